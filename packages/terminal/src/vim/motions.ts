import { findMatch, findParagraph, findSentence } from "./blocks.ts";
import { offsetOf } from "./marks.ts";
import { findWords, type Search } from "./search.ts";
import type { Place } from "./state.ts";
import {
  atColumn,
  firstNonBlank,
  isBlank,
  isEmptyLine,
  lastRow,
  lineEnd,
  lineStart,
  next,
  onCharacter,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";
import { wordBack, wordEnd, wordEndBack, wordForward } from "./words.ts";

/** How an operator treats the distance that a motion covers. */
export type MotionKind = "exclusive" | "inclusive" | "linewise";

export type Find = { key: "f" | "F" | "t" | "T"; character: string };

export type Motion = { to: number; kind: MotionKind; column?: number };

export type MotionContext = {
  text: string;
  cursor: number;
  /** undefined when none was typed. */
  count: number | undefined;
  /** The character typed after f, F, t or T. */
  argument: string;
  /** The column that j and k try to keep. */
  column: number;
  /** Set when an operator waits for the motion. */
  operator: string | undefined;
  /** In visual mode the cursor may rest on the end of a line. */
  visual: boolean;
  lastFind: Find | undefined;
  marks: Readonly<Record<string, Place>>;
  lastSearch: Search | undefined;
};

/** Returns undefined when the motion fails: Vim would beep, and nothing happens. */
export type MotionFunction = (context: MotionContext) => Motion | undefined;

const LAST_COLUMN = Number.MAX_SAFE_INTEGER;

export const MOTIONS: Readonly<Record<string, MotionFunction>> = {
  h: left,
  l: right,
  " ": (context) => acrossLines(context, next),
  Backspace: (context) => acrossLines(context, previous),
  j: (context) => vertical(context, context.count ?? 1),
  k: (context) => vertical(context, -(context.count ?? 1)),
  "0": ({ text, cursor }) => ({ to: lineStart(text, cursor), kind: "exclusive" }),
  "|": ({ text, cursor, count = 1, visual }) => {
    const to = atColumn(text, lineStart(text, cursor), count - 1);
    return { to: visual ? to : onCharacter(text, to), kind: "exclusive", column: count - 1 };
  },
  "^": ({ text, cursor }) => ({ to: onCharacter(text, firstNonBlank(text, cursor)), kind: "exclusive" }),
  $: endOfLine,
  w: (context) => wordForward(context, false),
  W: (context) => wordForward(context, true),
  b: (context) => wordBack(context, false),
  B: (context) => wordBack(context, true),
  e: (context) => wordEnd(context, false, false),
  E: (context) => wordEnd(context, true, false),
  ge: (context) => wordEndBack(context, false),
  gE: (context) => wordEndBack(context, true),
  _: (context) => rowsDown(context, (context.count ?? 1) - 1, context.operator === "y"),
  "+": (context) => rowsDown(context, context.count ?? 1),
  "-": (context) => rowsDown(context, -(context.count ?? 1)),
  g_: lastNonBlank,
  "%": percent,
  "{": (context) => findParagraph(context, -1),
  "}": (context) => findParagraph(context, 1),
  "(": (context) => findSentence(context, -1),
  ")": (context) => findSentence(context, 1),
  "'": (context) => toMark(context, true),
  "`": (context) => toMark(context, false),
  "/": (context) => searched(context, "/"),
  "?": (context) => searched(context, "?"),
  n: (context) => context.lastSearch && findWords(context, context.lastSearch),
  N: (context) => context.lastSearch && findWords(context, reversed(context.lastSearch)),
  gg: ({ text, count }) => toRow(text, (count ?? 1) - 1),
  G: ({ text, count }) => toRow(text, (count ?? Number.MAX_SAFE_INTEGER) - 1),
  f: (context) => find(context, { key: "f", character: context.argument }),
  F: (context) => find(context, { key: "F", character: context.argument }),
  t: (context) => find(context, { key: "t", character: context.argument }),
  T: (context) => find(context, { key: "T", character: context.argument }),
  ";": (context) => context.lastFind && find(context, context.lastFind, true),
  ",": (context) => context.lastFind && find(context, opposite(context.lastFind), true),
};

function left({ text, cursor, count = 1, operator }: MotionContext): Motion | undefined {
  const start = lineStart(text, cursor);
  let to = cursor;
  for (let i = 0; i < count && to > start; i++) to = previous(text, to);
  return exclusive(to, cursor, operator);
}

function right({ text, cursor, count = 1, operator, visual }: MotionContext): Motion | undefined {
  const end =
    operator === undefined && !visual ? onCharacter(text, lineEnd(text, cursor)) : lineEnd(text, cursor);
  let to = cursor;
  for (let i = 0; i < count && to < end; i++) to = next(text, to);
  return exclusive(to, cursor, operator);
}

/** Fails when the cursor would stay, unless an operator waits for the motion. */
const exclusive = (to: number, cursor: number, operator: string | undefined): Motion | undefined =>
  to === cursor && operator === undefined ? undefined : { to, kind: "exclusive" };

/** Space and Backspace continue in the next or previous line. */
function acrossLines(
  { text, cursor, count = 1, operator }: MotionContext,
  step: typeof next,
): Motion | undefined {
  let to = cursor;
  for (let i = 0; i < count; i++) {
    let reached = step(text, to);
    const between = text[reached] === "\n" && !isEmptyLine(text, reached);
    if (between && (operator === undefined || i + 1 < count)) reached = step(text, reached);
    if (reached === to || (operator === undefined && reached >= text.length && !isEmptyLine(text, reached)))
      break;
    to = reached;
  }
  return exclusive(to, cursor, operator);
}

function vertical({ text, cursor, column, visual }: MotionContext, rows: number): Motion | undefined {
  const row = rowOf(text, cursor);
  const target = Math.min(Math.max(row + rows, 0), lastRow(text));
  if (target === row) return;
  const start = startOfRow(text, target);
  const to = atColumn(text, start, column);
  return { to: visual ? to : onCharacter(text, to), kind: "linewise", column };
}

function endOfLine({ text, cursor, count = 1, visual }: MotionContext): Motion | undefined {
  const row = rowOf(text, cursor);
  const target = Math.min(row + count - 1, lastRow(text));
  if (count > 1 && target === row) return;
  const end = lineEnd(text, startOfRow(text, target));
  return { to: visual ? end : onCharacter(text, end), kind: "inclusive", column: LAST_COLUMN };
}

function toRow(text: string, row: number): Motion {
  const start = startOfRow(text, Math.min(row, lastRow(text)));
  return { to: onCharacter(text, firstNonBlank(text, start)), kind: "linewise" };
}

/** The first non-blank character of a line above or below. */
function rowsDown({ text, cursor }: MotionContext, rows: number, stays = false): Motion | undefined {
  const row = rowOf(text, cursor);
  const target = Math.min(Math.max(row + rows, 0), lastRow(text));
  if (stays && target >= row) return { to: Math.max(cursor, startOfRow(text, target)), kind: "linewise" };
  return rows !== 0 && target === row ? undefined : toRow(text, target);
}

function lastNonBlank({ text, cursor, count = 1 }: MotionContext): Motion | undefined {
  const row = rowOf(text, cursor);
  const start = startOfRow(text, Math.min(row + count - 1, lastRow(text)));
  if (count > 1 && row === lastRow(text)) return;
  let to = onCharacter(text, lineEnd(text, start));
  while (to > start && isBlank(text[to])) to--;
  return { to, kind: "inclusive" };
}

/** The matching bracket or, with a count, that percentage of the lines. */
function percent({ text, cursor, count }: MotionContext): Motion | undefined {
  if (count !== undefined)
    return count > 100 ? undefined : toRow(text, Math.ceil((count * (lastRow(text) + 1)) / 100) - 1);
  const to = findMatch(text, cursor);
  return to === undefined ? undefined : { to, kind: "inclusive" };
}

function toMark({ text, marks, argument }: MotionContext, linewise: boolean): Motion | undefined {
  const place = marks[argument === "`" ? "'" : argument];
  if (!place || place.row > lastRow(text)) return;
  const to = offsetOf(text, place);
  return linewise
    ? { to: onCharacter(text, firstNonBlank(text, to)), kind: "linewise" }
    : { to, kind: "exclusive" };
}

function find({ text, cursor, count = 1 }: MotionContext, what: Find, repeated = false): Motion | undefined {
  const forward = what.key === "f" || what.key === "t";
  const step = forward ? next : previous;
  const limit = forward ? lineEnd(text, cursor) : lineStart(text, cursor);
  const matches = (at: number) => text.slice(at, next(text, at)) === what.character && text[at] !== "\n";
  let at = cursor;
  let left = count;
  // Repeating t or T right before its target moves on to the next one.
  if (repeated && count === 1 && (what.key === "t" || what.key === "T")) {
    const beside = step(text, at);
    if (at !== limit && beside !== limit && matches(beside)) at = beside;
    if (!forward && at !== limit && beside === limit && matches(beside)) return;
  }
  while (left > 0) {
    if (at === limit) return;
    at = step(text, at);
    if (forward && at >= limit) return;
    if (matches(at)) left--;
  }
  if (what.key === "t") at = previous(text, at);
  if (what.key === "T") at = next(text, at);
  return { to: at, kind: forward ? "inclusive" : "exclusive" };
}

/** Without words, "/" and "?" search for the last ones. */
export const searchOf = (key: "/" | "?", words: string, last: Search | undefined): Search => ({
  words: words === "" ? (last?.words ?? "") : words,
  backward: key === "?",
});

const searched = (context: MotionContext, key: "/" | "?"): Motion | undefined =>
  findWords(context, searchOf(key, context.argument, context.lastSearch));

const reversed = ({ words, backward }: Search): Search => ({ words, backward: !backward });

const OPPOSITE = { f: "F", F: "f", t: "T", T: "t" } as const;
const opposite = (find: Find): Find => ({ key: OPPOSITE[find.key], character: find.character });
