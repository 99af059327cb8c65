/** The line to the extension host. */
import type { Requests } from "../protocol";
import type { Failure, FromWebview, PageState, Sent, WebviewMethod, WebviewParams } from "../shared/messages";

interface Api {
  postMessage(message: FromWebview): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

/** What the editor keeps of the page: for the host of a chat in a tab, and for the page that takes this one's place. */
let kept: PageState = { sending: [], ...(api.getState() as Partial<PageState> | undefined), chat: document.body.dataset["chat"] ?? "" };

function keep(change: Partial<PageState>): void {
  kept = { ...kept, ...change };
  api.setState(kept);
}

interface Waiting {
  done: (result: never) => void;
  failed: (error: RequestError) => void;
}

const AGAIN_MS = 2000; // from words that were sent to saying them once more

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

/** The page stands. What the one before it sent is said again: nobody knows whether it was heard. */
export function begin(): void {
  keep({});
  post({ type: "ready", sending: kept.sending });
}

/** Sends the user's words, and keeps them until the host says that it does. */
export function send(sent: Sent): void {
  keep({ sending: [...kept.sending, sent] });
  post(sent);
  const { sessionId } = kept;
  window.setTimeout(() => { again(sent, sessionId); }, AGAIN_MS);
}

/** As long as the host is silent, unless the chat shows another session now: then the next page says it. */
function again(sent: Sent, sessionId: string | undefined): void {
  if (!kept.sending.includes(sent)) return;
  if (kept.sessionId === sessionId) post(sent);
  window.setTimeout(() => { again(sent, sessionId); }, AGAIN_MS);
}

export function taken(messageId: string): void {
  keep({ sending: kept.sending.filter((sent) => sent.messageId !== messageId) });
}

export function remember(sessionId: string | undefined): void {
  keep({ sessionId });
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
