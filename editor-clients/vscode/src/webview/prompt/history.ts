/** The prompts of this session, walked through with the arrow keys; what was being typed waits at the end. */
export class History {
  private at: number | undefined;
  private typed = "";

  constructor(private readonly prompts: () => string[]) {}

  /** The prompt before; nothing if there is none. */
  back(current: string): string | undefined {
    const list = this.prompts();
    const next = (this.at ?? list.length) - 1;
    if (list[next] === undefined) return undefined;
    if (this.at === undefined) this.typed = current;
    this.at = next;
    return list[next];
  }

  /** The prompt after, at last what was being typed. */
  forward(): string | undefined {
    if (this.at === undefined) return undefined;
    const list = this.prompts();
    this.at++;
    if (this.at < list.length) return list[this.at];
    this.at = undefined;
    return this.typed;
  }

  /** Something was typed or sent: the walk is over. */
  leave(): void {
    this.at = undefined;
  }
}
