/** The line to the extension host. */
import type { Requests } from "../protocol";
import type { Failure, FromWebview, WebviewMethod, WebviewParams } from "../shared/messages";

interface Api {
  postMessage(message: FromWebview): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

interface Waiting {
  done: (result: never) => void;
  failed: (error: RequestError) => void;
}

const waiting = new Map<number, Waiting>();
let requests = 0;

export class RequestError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/** What went wrong, for a person. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function post(message: FromWebview): void {
  api.postMessage(message);
}

/** What the editor gives back to a chat in a tab when its window was reloaded: the session, for the host. */
export function remember(sessionId: string | undefined): void {
  api.setState({ sessionId });
}

export function request<M extends WebviewMethod>(method: M, params: WebviewParams<M>): Promise<Requests[M]["result"]> {
  const requestId = ++requests;
  return new Promise((done, failed) => {
    waiting.set(requestId, { done, failed });
    post({ type: "request", requestId, method, params } as FromWebview);
  });
}

export function answered(requestId: number, result: unknown): void {
  waiting.get(requestId)?.done(result as never);
  waiting.delete(requestId);
}

export function failed(requestId: number, failure: Failure): void {
  waiting.get(requestId)?.failed(new RequestError(failure));
  waiting.delete(requestId);
}
