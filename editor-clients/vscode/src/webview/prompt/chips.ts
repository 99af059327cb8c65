/** The things beside the words of a prompt. */
import { named } from "../../shared/hidden";
import type { Chip } from "../../shared/messages";
import { h } from "../dom";
import { icon, type IconName } from "../icons";

const ICONS: Record<Chip["part"]["type"], IconName> = {
  agent: "agent",
  diagnostics: "warning",
  file: "file",
  image: "image",
  selection: "selection",
};

/** Chips of one prompt: no thing twice. */
export function added(chips: readonly Chip[], more: readonly Chip[]): Chip[] {
  const list = [...chips];
  for (const chip of more) {
    const same = (one: Chip): boolean => chip.part.type !== "image" && one.label === chip.label && one.title === chip.title && one.part.type === chip.part.type;
    const at = list.findIndex(same);
    if (at < 0) list.push(chip);
    else list[at] = chip;
  }
  return list;
}

/** Files that were named in the text go when their word goes. */
export function stillNamed(chips: readonly Chip[], text: string): Chip[] {
  return chips.filter((chip) => !isMention(chip) || text.includes(chip.label));
}

export function isMention(chip: Chip): boolean {
  return chip.part.type === "file" && chip.label.startsWith("@");
}

export function chipRow(chips: readonly Chip[], remove: (chip: Chip) => void): HTMLElement[] {
  return chips.map((chip) => {
    const name = isMention(chip) ? (chip.label.slice(1).split("/").filter(Boolean).at(-1) ?? chip.label) : chip.label;
    const picture = chip.part.type === "image" ? h("img", { class: "thumb", src: `data:${chip.part.mimeType};base64,${chip.part.data}`, alt: "" }) : icon(ICONS[chip.part.type]);
    return h(
      "li",
      { class: "chip", title: chip.title },
      picture,
      h("span", { class: "chip-label" }, named(name)),
      h("button", { class: "chip-remove", type: "button", "aria-label": `Remove ${named(name)}`, onclick: () => { remove(chip); } }, icon("close")),
    );
  });
}
