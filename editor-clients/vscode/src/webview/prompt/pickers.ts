/** The buttons that say with what agent, model and mode the session works, and open the editor's pickers. */
import type { AgentEntry, ModelEntry, ModelRef } from "../../protocol";
import type { Mode, StateMessage } from "../../shared/messages";
import type { SessionCopy } from "../../shared/store";
import { h, setAttribute, setText } from "../dom";
import { post } from "../host";
import { icon, type IconName } from "../icons";
import { MODES } from "../words";

type What = "agent" | "model" | "mode";

const LOOKS: Record<What, { icon: IconName; name: string }> = {
  mode: { icon: "mode", name: "Mode" },
  model: { icon: "model", name: "Model" },
  agent: { icon: "agent", name: "Agent" },
};

export class Pickers {
  readonly element = h("div", { class: "pickers" });
  private readonly labels = new Map<What, { button: HTMLButtonElement; label: HTMLElement }>();

  constructor() {
    for (const what of ["mode", "model", "agent"] as const) {
      const label = h("span", { class: "picker-label" });
      const button = h("button", { class: `picker picker-${what}`, type: "button", onclick: () => { post({ type: "pick", what }); } }, icon(LOOKS[what].icon), label);
      this.labels.set(what, { button, label });
      this.element.append(button);
    }
  }

  show(state: StateMessage | undefined, copy: SessionCopy | undefined): void {
    this.write("mode", MODES[modeOf(state, copy)]);
    this.write("model", modelOf(state, copy));
    this.write("agent", agentOf(state, copy));
    this.element.dataset.mode = modeOf(state, copy);
  }

  private write(what: What, words: string): void {
    const one = this.labels.get(what);
    if (!one) return;
    const { name } = LOOKS[what];
    setText(one.label, words === "" ? name : words);
    setAttribute(one.button, "aria-label", words === "" ? `Choose the ${name.toLowerCase()}` : `${name}: ${words}`);
    setAttribute(one.button, "title", words === "" ? `Choose the ${name.toLowerCase()}` : `${name}: ${words}`);
  }
}

function modeOf(state: StateMessage | undefined, copy: SessionCopy | undefined): Mode {
  return copy?.session?.mode ?? state?.chosen.mode ?? "ask";
}

function agentOf(state: StateMessage | undefined, copy: SessionCopy | undefined): string {
  const fallback = (state?.agents ?? []).find((one: AgentEntry) => one.default === true)?.name;
  return copy?.session?.agent ?? state?.chosen.agent ?? fallback ?? "";
}

function modelOf(state: StateMessage | undefined, copy: SessionCopy | undefined): string {
  const models = state?.models ?? [];
  const fallback: ModelRef | undefined = models.find((one: ModelEntry) => one.default === true);
  const ref = copy?.session?.model ?? state?.chosen.model ?? fallback;
  return ref ? nameOf(ref, models) : "";
}

function nameOf(ref: ModelRef, models: ModelEntry[]): string {
  const known = models.find((one) => one.modelId === ref.modelId && one.providerId === ref.providerId);
  return (known?.name ?? ref.modelId) + (ref.variant === undefined ? "" : ` (${ref.variant})`);
}
