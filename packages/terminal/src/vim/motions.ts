import {
  atColumn,
  classAt,
  firstNonBlank,
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
  "^": ({ text, cursor }) => ({ to: onCharacter(text, firstNonBlank(text, cursor)), kind: "exclusive" }),
  $: endOfLine,
  w: (context) => wordForward(context, false),
  W: (context) => wordForward(context, true),
  b: (context) => wordBack(context, false),
  B: (context) => wordBack(context, true),
  e: (context) => wordEnd(context, false, false),
  E: (context) => wordEnd(context, true, false),
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

function wordForward(context: MotionContext, bigWord: boolean): Motion | undefined {
  const { text, cursor, operator } = context;
  if (operator === "c" && classAt(text, cursor, bigWord) !== "blank") return wordEnd(context, bigWord, true);
  let to = cursor;
  for (let left = context.count ?? 1; left > 0; left--) {
    const stopAtLineEnd = operator !== undefined && left === 1;
    const reached = oneWordForward(text, to, bigWord, stopAtLineEnd);
    if (reached === undefined) {
      if (operator === undefined && onCharacter(text, to) === cursor) return;
      to = text.length;
      break;
    }
    to = reached;
  }
  if (operator === undefined) to = onCharacter(text, to);
  return { to, kind: "exclusive" };
}

/** Returns undefined when there is no next word. */
function oneWordForward(
  text: string,
  from: number,
  bigWord: boolean,
  stopAtLineEnd: boolean,
): number | undefined {
  const first = classAt(text, from, bigWord);
  const lastLine = lineEnd(text, from) === text.length;
  let at = next(text, from);
  const leftLine = at >= lineEnd(text, from);
  if (leftLine && lastLine) return;
  if (leftLine && stopAtLineEnd) return at;
  if (first !== "blank") {
    while (classAt(text, at, bigWord) === first) {
      at = next(text, at);
      if (at >= text.length || (stopAtLineEnd && text[at] === "\n")) return at;
    }
  }
  while (classAt(text, at, bigWord) === "blank" && !isEmptyLine(text, at)) {
    if (at >= text.length || (stopAtLineEnd && text[at] === "\n")) return at;
    at = next(text, at);
  }
  return at;
}

function wordBack({ text, cursor, count = 1 }: MotionContext, bigWord: boolean): Motion | undefined {
  let at = cursor;
  for (let i = 0; i < count; i++) {
    if (at === 0) return i === 0 ? undefined : { to: 0, kind: "exclusive" };
    at = previous(text, at);
    while (at > 0 && classAt(text, at, bigWord) === "blank" && !isEmptyLine(text, at))
      at = previous(text, at);
    if (classAt(text, at, bigWord) === "blank") continue;
    at = startOfRun(text, at, bigWord);
  }
  return { to: at, kind: "exclusive" };
}

/** `stay` is how `cw` differs from `ce`: on the last character of a word it goes no further. */
function wordEnd(context: MotionContext, bigWord: boolean, stay: boolean): Motion | undefined {
  const { text, cursor, count = 1 } = context;
  let at = cursor;
  for (let i = 0; i < count; i++) {
    const here = classAt(text, at, bigWord);
    if (at >= text.length || next(text, at) >= text.length) {
      return { to: onCharacter(text, text.length), kind: "inclusive" };
    }
    let to = next(text, at);
    if (here === "blank" || classAt(text, to, bigWord) !== here) {
      if (stay && i === 0 && here !== "blank") continue;
      while (to < text.length && classAt(text, to, bigWord) === "blank") to = next(text, to);
      if (to >= text.length) return { to: onCharacter(text, text.length), kind: "inclusive" };
    }
    at = endOfRun(text, to, bigWord);
  }
  return { to: at, kind: "inclusive" };
}

export function startOfRun(text: string, from: number, bigWord: boolean): number {
  return extend(text, from, lineStart(text, from), bigWord, previous);
}

export function endOfRun(text: string, from: number, bigWord: boolean): number {
  return extend(text, from, Math.max(from, onCharacter(text, lineEnd(text, from))), bigWord, next);
}

function extend(text: string, from: number, limit: number, bigWord: boolean, step: typeof next): number {
  const kind = classAt(text, from, bigWord);
  let at = from;
  while (at !== limit && classAt(text, step(text, at), bigWord) === kind) at = step(text, at);
  return at;
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

const OPPOSITE = { f: "F", F: "f", t: "T", T: "t" } as const;
const opposite = (find: Find): Find => ({ key: OPPOSITE[find.key], character: find.character });
