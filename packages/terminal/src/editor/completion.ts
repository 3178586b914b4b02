import { toOneLine } from "@octant/core";
import { type Line, span, truncate, widthOf } from "../styled.ts";

/** A possible replacement for the word at the cursor. */
export type Completion = {
  value: string;
  detail?: string;
  /** A command that can run without anything more. */
  runs?: boolean;
};

/** Finds completions: paths after "@", commands after "/" at the start. */
export type Completer = (word: string) => Promise<readonly Completion[]>;

export type CompletionTarget = { word: string; start: number };

/** The word to complete, or undefined when there is none at the cursor. */
export function completionTarget(text: string, cursor: number): CompletionTarget | undefined {
  const before = text.slice(0, cursor);
  if (/^\/[^\s]*$/.test(before)) return { word: before, start: 0 };
  const argument = /^\/\S+\s+([^\s@]\S*|)$/.exec(before);
  if (argument) return { word: before, start: cursor - (argument[1]?.length ?? 0) };
  const mention = /(?:^|\s)(@(?:"[^"\n]*|[^\s]*))$/.exec(before)?.[1];
  return mention === undefined ? undefined : { word: mention, start: cursor - mention.length };
}

const MAX_SHOWN = 8;

/** A list of completions with a selected one. */
export type Menu = {
  target: CompletionTarget;
  /** The text that it completes. */
  text: string;
  items: readonly Completion[];
  chosen: number;
  /** The person has chosen another one. */
  isMoved?: boolean;
};

/** The rows of the menu around the selected one. */
export function viewMenu({ items, chosen }: Menu, width: number): Line[] {
  const first = Math.min(Math.max(chosen - MAX_SHOWN + 1, 0), Math.max(items.length - MAX_SHOWN, 0));
  const shown = items.slice(first, first + MAX_SHOWN);
  const column = Math.max(...shown.map(({ value }) => widthOf(toOneLine(value))));
  return shown.map(({ value, detail }, i) => {
    const name = toOneLine(value);
    const gap = " ".repeat(column - widthOf(name) + 2);
    const isChosen = first + i === chosen;
    return truncate(
      [
        span(isChosen ? "› " : "  ", { role: "accent" }),
        span(name, isChosen ? { bold: true } : {}),
        span(detail ? `${gap}${toOneLine(detail)}` : "", { role: "muted" }),
      ],
      width,
    );
  });
}
