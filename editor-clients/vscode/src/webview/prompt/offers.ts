/** What the list offers for the word at the caret, and what choosing it does to the text. */
import type { CommandEntry, FoundFile } from "../../protocol";
import type { Chip } from "../../shared/messages";
import { post } from "../host";
import { uriOfPath } from "../words";
import type { Completion, Offer } from "./completion";
import { mentionAt, type Mention } from "./mention";

interface Surroundings {
  commands: () => CommandEntry[];
  chip: (chip: Chip) => void;
  changed: () => void;
}

const SPECIAL = [
  { word: "selection", detail: "the selected lines", icon: "selection", what: "selection" },
  { word: "diagnostics", detail: "the problems of the file", icon: "warning", what: "diagnostics" },
  { word: "file", detail: "the file that is open", icon: "file", what: "activeFile" },
] as const;

export class Offers {
  private asked: string | undefined;
  private found: FoundFile[] = []; // last, for an earlier word

  constructor(
    private readonly input: HTMLTextAreaElement,
    private readonly completion: Completion,
    private readonly around: Surroundings,
  ) {}

  private get mention(): Mention | undefined {
    const { value, selectionStart, selectionEnd } = this.input;
    return selectionStart === selectionEnd ? mentionAt(value, selectionStart) : undefined;
  }

  /** The text or the caret is another: offers what fits. */
  look(): void {
    const { mention } = this;
    if (!mention) {
      this.asked = undefined;
      this.completion.hide();
    } else if (mention.sign === "/") this.completion.show(this.commandOffers(mention));
    else {
      if (this.asked === mention.word) return;
      if (this.asked === undefined) this.found = [];
      this.asked = mention.word;
      post({ type: "find", query: mention.word });
      const word = mention.word.toLowerCase();
      this.offer(mention, this.found.filter(({ name }) => name.toLowerCase().includes(word)));
    }
  }

  /** Files that were found; those for a word that stands there no more are dropped. */
  files(query: string, files: FoundFile[]): void {
    const { mention } = this;
    if (mention?.sign !== "@" || mention.word !== query || document.activeElement !== this.input) return;
    this.found = files;
    this.offer(mention, files);
  }

  private offer(mention: Mention, files: FoundFile[]): void {
    const offers = files.map((file): Offer => {
      const at = file.name.lastIndexOf("/");
      return { icon: "file", label: file.name.slice(at + 1), detail: at < 0 ? "" : file.name.slice(0, at), choose: () => { this.chooseFile(file); } };
    });
    this.completion.show([...this.specialOffers(mention), ...offers]);
  }

  private specialOffers(mention: Mention): Offer[] {
    return SPECIAL.filter(({ word }) => word.startsWith(mention.word)).map(({ word, detail, icon, what }) => ({
      icon,
      label: word,
      detail,
      choose: () => {
        this.replace("");
        post({ type: "attach", what });
      },
    }));
  }

  private commandOffers(mention: Mention): Offer[] {
    return this.around
      .commands()
      .filter(({ name }) => name.startsWith(mention.word))
      .map(({ name, description }) => ({ icon: "chevron", label: `/${name}`, detail: description ?? "", choose: () => { this.replace(`/${name} `); } }));
  }

  private chooseFile(file: FoundFile): void {
    const label = `@${file.name}`;
    this.replace(`${label} `);
    this.around.chip({ label, title: file.path, part: { type: "file", uri: uriOfPath(file.path) } });
    this.around.changed();
  }

  /** Puts a text in place of the word at the caret. */
  private replace(text: string): void {
    const { mention } = this;
    this.completion.hide();
    this.asked = undefined;
    if (!mention) return;
    this.input.setRangeText(text, mention.start, this.input.selectionEnd, "end");
    this.around.changed();
  }
}
