import type { Motion, MotionContext } from "./motions.ts";
import {
  isBlank,
  isEmptyLine,
  lastRow,
  lineEnd,
  lineStart,
  next,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";

const PAIRS = ["()", "[]", "{}"] as const;

/** The bracket that matches the first one at or after the cursor in its line. */
export function findMatch(text: string, cursor: number): number | undefined {
  const end = lineEnd(text, cursor);
  for (let from = cursor; from < end; from++) {
    const pair = PAIRS.find((one) => one.includes(text[from] ?? ""));
    if (pair && text[from] !== "") return matchOf(text, from, pair);
  }
  return undefined;
}

function matchOf(text: string, from: number, [open = "", close = ""]: string): number | undefined {
  const step = text[from] === open ? 1 : -1;
  let depth = 0;
  for (let at = from; at >= 0 && at < text.length; at += step) {
    if (text[at] === open) depth += step;
    if (text[at] === close) depth -= step;
    if (depth === 0) return at;
  }
  return undefined;
}

/** "{" and "}": the next empty line after a line that is not empty. */
export function findParagraph({ text, cursor, count = 1 }: MotionContext, step: 1 | -1): Motion | undefined {
  const last = lastRow(text);
  const isEmpty = (row: number) => isEmptyLine(text, startOfRow(text, row));
  let row = rowOf(text, cursor);
  for (let left = count - 1; left >= 0; left--) {
    let hasText = false;
    for (let isFirst = true; ; isFirst = false) {
      hasText ||= !isEmpty(row);
      if (!isFirst && hasText && isEmpty(row)) break;
      row += step;
      if (row >= 0 && row <= last) continue;
      if (left > 0) return;
      row -= step;
      break;
    }
  }
  const start = startOfRow(text, row);
  const end = lineEnd(text, start);
  if (row === last && end > start) return { to: previous(text, end), kind: "inclusive" };
  return { to: start, kind: "exclusive" };
}

/** "(" and ")": the start of a sentence. */
export function findSentence(
  { text, cursor, count = 1, visual }: MotionContext,
  step: 1 | -1,
): Motion | undefined {
  let at: number | undefined = cursor;
  for (let left = count - 1; left >= 0 && at !== undefined; left--)
    at = oneSentence(text, at, step, left > 0);
  if (at === undefined) return;
  const isPastLine = at > lineStart(text, at) && at === lineEnd(text, at);
  return isPastLine && !visual
    ? { to: previous(text, at), kind: "inclusive" }
    : { to: at, kind: "exclusive" };
}

const CLOSERS = `)]"'`;
const STOPS = ".!?";
const isIn = (set: string, character: string | undefined): boolean =>
  character !== undefined && character !== "" && set.includes(character);

/** Fails at the end of the text while more sentences are to come. */
function oneSentence(text: string, from: number, step: 1 | -1, hasMore: boolean): number | undefined {
  const move = step === 1 ? forward : back;
  let at = from;
  if (isLineEnd(text, at)) {
    while (isLineEnd(text, at)) {
      const to = move(text, at);
      if (to === undefined) break;
      at = to;
    }
    if (step === 1) return skipBlanks(text, at);
  } else if (step === -1) at = back(text, at) ?? at;
  at = beforePunctuation(text, at, step);
  const startRow = rowOf(text, at);
  for (;;) {
    if (isLineEnd(text, at)) {
      if (step === -1 && rowOf(text, at) !== startRow) at = startOfRow(text, rowOf(text, at) + 1);
      return skipBlanks(text, at);
    }
    const end = isIn(STOPS, text[at]) ? afterStop(text, at) : undefined;
    if (end !== undefined) return skipBlanks(text, end);
    const to = move(text, at);
    if (to === undefined) {
      if (hasMore) return undefined;
      return step === 1 ? lineEnd(text, at) : at;
    }
    at = to;
  }
}

/** The offset after the punctuation of a sentence; undefined when the sentence does not end there. */
function afterStop(text: string, stop: number): number | undefined {
  let at = stop + 1;
  while (isIn(CLOSERS, text[at])) at++;
  if (at >= text.length) return at;
  if (text[at] === "\n") return at + 1;
  return isBlank(text[at]) ? at : undefined;
}

function beforePunctuation(text: string, from: number, step: 1 | -1): number {
  let at = from;
  let hasStop = false;
  for (;;) {
    const character = isLineEnd(text, at) ? "" : text[at];
    if (!isBlank(character) && !isIn(STOPS + CLOSERS, character)) return at;
    const before = back(text, at);
    if (before === undefined || (step === 1 && isEmptyLine(text, before)) || hasStop) return at;
    hasStop = isIn(STOPS, character);
    if (isIn(CLOSERS, character) && !isIn(STOPS + CLOSERS, text[before])) return at;
    at = before;
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text[at])) {
    const to = forward(text, at);
    if (to === undefined) return lineEnd(text, at);
    at = to;
  }
  return at;
}

const isLineEnd = (text: string, at: number): boolean => at >= text.length || text[at] === "\n";

/** The next character, without the end of a line that has text. Undefined at the end. */
function forward(text: string, at: number): number | undefined {
  if (at >= text.length) return undefined;
  const to = next(text, at);
  if (!isLineEnd(text, to) || isEmptyLine(text, to)) return to;
  return to >= text.length ? undefined : to + 1;
}

/** The previous character, without the end of a line that has text. Undefined at the start. */
function back(text: string, at: number): number | undefined {
  if (at <= 0) return undefined;
  const to = previous(text, at);
  return text[to] === "\n" && !isEmptyLine(text, to) ? previous(text, to) : to;
}

/** The text object of a sentence for an operator. */
export function sentence(text: string, cursor: number, around: boolean, count: number) {
  const { start, last } = sentenceAt(text, cursor, around, count);
  const after = forward(text, last);
  const kind = after === undefined ? ("inclusive" as const) : ("exclusive" as const);
  return { start, end: after ?? lineEnd(text, last), linewise: false, kind };
}

/** The sentences at the cursor; `past` is where the blanks at the cursor end. */
function sentenceAt(text: string, cursor: number, around: boolean, count: number) {
  const following = oneSentence(text, cursor, 1, false) ?? text.length;
  let past = cursor;
  while (isBlank(text[past])) past = forward(text, past) ?? lineEnd(text, past);
  const startsBlank = past === following;
  let start = startsBlank ? firstBlank(text, cursor) : (oneSentence(text, following, -1, false) ?? 0);
  const steps = around ? count * 2 : startsBlank ? count - 1 : count;
  let last = startsBlank ? following : start;
  if (steps > 0) last = forwardSentences(text, last, steps, true);
  else last = back(text, last) ?? last;
  if (around && startsBlank) {
    last = firstBlank(text, last);
    if (isBlank(text[last])) last = back(text, last) ?? last;
  } else if (around && !isBlank(text[last])) start = firstBlank(text, start);
  return { start, last, past };
}

/** The ends of a visual selection after "is" or "as", which select sentences, or extend what is selected. */
export function selectSentence(text: string, anchor: number, cursor: number, around: boolean, count: number) {
  const steps = around ? count * 2 : count;
  if (anchor !== cursor) {
    const following = oneSentence(text, cursor, 1, false) ?? text.length;
    const to =
      cursor < anchor
        ? extendBack(text, { from: cursor, past: cursor, following }, around, steps)
        : extendForward(text, { from: cursor, past: cursor, following }, steps);
    return { anchor, cursor: to };
  }
  const { start, last, past } = sentenceAt(text, cursor, around, count);
  if (start !== last) return { anchor: start, cursor: last };
  // A single character would be selected again and again.
  const to =
    start < anchor
      ? extendBack(text, { from: start, past, following: last }, around, steps)
      : extendForward(text, { from: start, past, following: last }, steps);
  return { anchor, cursor: to };
}

/** Where a selection ends, where its blanks end, and where the next sentence starts. */
interface Edge {
  readonly from: number;
  readonly past: number;
  readonly following: number;
}

function extendForward(text: string, { from, past, following }: Edge, steps: number): number {
  const start = forward(text, past) ?? lineEnd(text, past);
  if (start === following) return forwardSentences(text, following, steps, true);
  const isInside = !isBlankBetween(text, start, following);
  const at = isInside ? (oneSentence(text, following, -1, false) ?? 0) : from;
  return forwardSentences(text, at, steps, isInside);
}

function extendBack(text: string, { from, past, following }: Edge, around: boolean, steps: number): number {
  let at = following;
  let isAtStart = isBlankBetween(text, back(text, past) ?? past, following);
  if (!isAtStart) {
    at = oneSentence(text, at, -1, false) ?? 0;
    isAtStart = at === from;
    if (!isAtStart) at = oneSentence(text, at, 1, false) ?? at;
  }
  for (let left = steps; left > 0; left--, isAtStart = !isAtStart) {
    if (isAtStart) at = firstBlank(text, at);
    if (!isAtStart || (!around && !isBlank(text[at]))) at = oneSentence(text, at, -1, false) ?? 0;
  }
  return at;
}

function isBlankBetween(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at = forward(text, at) ?? end) if (!isBlank(text[at])) return false;
  return true;
}

function forwardSentences(text: string, from: number, count: number, startsSentence: boolean): number {
  let at = from;
  for (let left = count - 1, isStart = startsSentence; left >= 0; left--, isStart = !isStart) {
    at = oneSentence(text, at, 1, false) ?? at;
    if (isStart) at = firstBlank(text, at);
    if (left === 0 || isStart) at = back(text, at) ?? at;
  }
  return at;
}

/** The first of the blanks before an offset. */
function firstBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    const before = back(text, at);
    if (before === undefined) return at;
    if (!isBlank(text[before]) || isLineEnd(text, before))
      return forward(text, before) ?? lineEnd(text, before);
    at = before;
  }
}
