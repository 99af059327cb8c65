/** Quick picks and input boxes that can be taken away again: `signal` hides them. They open at the user's wish only. */
import * as vscode from "vscode";

export interface PickOptions {
  title: string;
  placeholder?: string;
  signal?: AbortSignal;
}

export interface Choice<T> extends vscode.QuickPickItem {
  value: T;
}

/** A line between choices. */
export function separator<T>(label: string): Choice<T> {
  return { label, kind: vscode.QuickPickItemKind.Separator, value: undefined as T };
}

function prepared<T>(choices: readonly Choice<T>[], { title, placeholder }: PickOptions): vscode.QuickPick<Choice<T>> {
  const quick = vscode.window.createQuickPick<Choice<T>>();
  quick.items = choices;
  quick.title = title;
  quick.placeholder = placeholder;
  quick.matchOnDescription = true;
  quick.ignoreFocusOut = true;
  return quick;
}

/** Shows until it is accepted, left, or taken away. `accept` says what it is worth then; absent is nothing. */
function shown<T>(input: vscode.QuickPick<Choice<unknown>> | vscode.InputBox, signal: AbortSignal | undefined, accept: () => T | undefined): Promise<T | undefined> {
  return new Promise((resolve) => {
    const hide = () => {
      input.hide();
    };
    let worth: T | undefined;
    input.onDidAccept(() => {
      worth = accept();
      if (worth !== undefined) hide();
    });
    input.onDidHide(() => {
      signal?.removeEventListener("abort", hide);
      input.dispose();
      resolve(signal?.aborted ? undefined : worth);
    });
    if (signal?.aborted) {
      input.dispose();
      resolve(undefined);
      return;
    }
    signal?.addEventListener("abort", hide);
    input.show();
  });
}

/** One of the choices; absent if the user left, or it was taken away. */
export function pick<T>(choices: readonly Choice<T>[], options: PickOptions): Promise<T | undefined> {
  const quick = prepared(choices, options);
  return shown(quick as vscode.QuickPick<Choice<unknown>>, options.signal, () => quick.selectedItems[0]?.value);
}

/** Several of the choices, at least one. Those with `picked` are chosen at first. */
export function pickSome<T>(choices: readonly Choice<T>[], options: PickOptions): Promise<T[] | undefined> {
  const quick = prepared(choices, options);
  quick.canSelectMany = true;
  quick.selectedItems = choices.filter((choice) => choice.picked);
  return shown(quick as vscode.QuickPick<Choice<unknown>>, options.signal, () => {
    const some = quick.selectedItems.map((choice) => choice.value);
    return some.length > 0 ? some : undefined;
  });
}

export interface InputOptions {
  title: string;
  prompt: string;
  value?: string;
  signal?: AbortSignal;
  /** What was typed when it was left or taken away. */
  left?(words: string): void;
}

/** Words, possibly none; absent if the user left, or it was taken away. */
export async function input(options: InputOptions): Promise<string | undefined> {
  const box = vscode.window.createInputBox();
  box.title = options.title;
  box.prompt = options.prompt;
  box.value = options.value ?? "";
  box.ignoreFocusOut = true;
  let words = box.value;
  box.onDidChangeValue((value) => {
    words = value;
  });
  const given = await shown(box, options.signal, () => words.trim());
  if (given === undefined) options.left?.(words);
  return given;
}
