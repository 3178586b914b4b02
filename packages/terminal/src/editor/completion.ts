/** A possible replacement for the word at the cursor. */
export type Completion = { value: string; detail?: string };

/** Finds completions: paths after "@", commands after "/" at the start. */
export type Completer = (word: string) => Promise<readonly Completion[]>;

export type CompletionTarget = { word: string; start: number };

/** The word to complete, or undefined when there is none at the cursor. */
export function completionTarget(text: string, cursor: number): CompletionTarget | undefined {
  const before = text.slice(0, cursor);
  if (/^\/[^\s]*$/.test(before)) return { word: before, start: 0 };
  const argument = /^\/\S+\s+([^\s@]\S*|)$/.exec(before);
  if (argument) return { word: before, start: cursor - (argument[1]?.length ?? 0) };
  const mention = /(?:^|\s)(@[^\s]*)$/.exec(before)?.[1];
  return mention === undefined ? undefined : { word: mention, start: cursor - mention.length };
}

const MAX_SHOWN = 8;

/** A list of completions with a selected one. */
export type Menu = { target: CompletionTarget; items: readonly Completion[]; chosen: number };

export const openMenu = (target: CompletionTarget, items: readonly Completion[]): Menu | undefined =>
  items.length === 0 ? undefined : { target, items, chosen: 0 };

export const moveChoice = (menu: Menu, by: number): Menu => ({
  ...menu,
  chosen: (menu.chosen + by + menu.items.length) % menu.items.length,
});

/** The rows of the menu around the selected one. */
export function visibleItems({ items, chosen }: Menu): { items: readonly Completion[]; chosen: number } {
  const first = Math.min(Math.max(chosen - MAX_SHOWN + 1, 0), Math.max(items.length - MAX_SHOWN, 0));
  return { items: items.slice(first, first + MAX_SHOWN), chosen: chosen - first };
}
