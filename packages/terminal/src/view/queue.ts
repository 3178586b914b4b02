import { toOneLine } from "@octant/core";
import { type Line, span, truncate, wrap } from "../styled.ts";

const MAX_SHOWN = 5;

/** The messages that wait for the agent's next step. */
export function viewQueue(texts: readonly string[], width: number, canTakeBack: boolean): Line[] {
  if (texts.length === 0) return [];
  const left = texts.length - MAX_SHOWN;
  const rows = texts
    .slice(-MAX_SHOWN)
    .map((text) => truncate([span(`  ${toOneLine(text)}`, { role: "muted" })], width));
  const more = left > 0 ? `, ${left} more above` : "";
  // Up is about an open question.
  const hint = canTakeBack ? "; Up takes the last one back" : "";
  const title = `queued for the next step${more}${hint}`;
  return [truncate([span(title, { role: "warning" })], width), ...rows];
}

/** The line that says which command runs. */
export const viewTyped = (line: string, width: number): Line[] =>
  wrap([span(toOneLine(line))], width - 2).map((row, at) => [
    at === 0 ? span("› ", { role: "accent", bold: true }) : span("  "),
    ...row,
  ]);

/** OSC 52: the terminal puts the text into its clipboard, also through ssh. */
export const toClipboard = (text: string): string => `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
