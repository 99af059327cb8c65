/** Why a request was not answered. `kind` is the protocol's, or `gone` or `unavailable` where the server is not there. */
import type { Failure } from "../shared/messages";

export class RequestError extends Error implements Failure {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

// Of JSON-RPC libraries for a connection that ended: see ErrorCodes of vscode-jsonrpc.
const ENDED = new Set([-32097, -32099, -32096]);

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Any failure of a request as ours. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const kind = member(member(error, "data"), "kind");
  if (typeof kind === "string") return new RequestError(message, kind);
  const code = member(error, "code");
  const answered = typeof code === "number" && !ENDED.has(code);
  return new RequestError(message, answered ? "internal" : "gone");
}
