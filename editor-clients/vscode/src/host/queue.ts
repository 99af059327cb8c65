/** What waits for the user's answer, the oldest first. */
import type { Permission, Question } from "../protocol";

export type Ask = Permission | Question;

export function isPermission(ask: Ask): ask is Permission {
  return "permissionId" in ask;
}

export function idOf(ask: Ask): string {
  return isPermission(ask) ? ask.permissionId : ask.questionId;
}

export class AskQueue {
  readonly #open = new Map<string, Ask>();
  /** Put off by the user: not shown again by itself. */
  readonly #later = new Set<string>();

  get(id: string): Ask | undefined {
    return this.#open.get(id);
  }

  list(): Ask[] {
    return [...this.#open.values()].sort((one, other) => one.createdAt - other.createdAt);
  }

  /** Those of a session and of its subtasks. */
  of(sessionId: string): Ask[] {
    return this.list().filter((ask) => ask.sessionId === sessionId || ask.rootSessionId === sessionId);
  }

  put(ask: Ask): void {
    this.#open.set(idOf(ask), ask);
  }

  /** Whether it was open. */
  settle(id: string): boolean {
    this.#later.delete(id);
    return this.#open.delete(id);
  }

  /** The server's own list; returns the ids of what is not open any more. */
  replace(asks: readonly Ask[]): string[] {
    const now = new Set(asks.map(idOf));
    const gone = [...this.#open.keys()].filter((id) => !now.has(id));
    for (const id of gone) this.settle(id);
    for (const ask of asks) this.put(ask);
    return gone;
  }

  putOff(id: string): void {
    this.#later.add(id);
  }

  /** The next to be shown without being asked for. */
  next(): Ask | undefined {
    return this.list().find((ask) => !this.#later.has(idOf(ask)));
  }

  place(id: string): { index: number; count: number } {
    const list = this.list();
    return { index: list.findIndex((ask) => idOf(ask) === id) + 1, count: list.length };
  }
}
