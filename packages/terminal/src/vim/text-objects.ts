import { sentence } from "./blocks.ts";
import {
  classAt,
  isBlank,
  lastRow,
  lineEnd,
  lineStart,
  next,
  onCharacter,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";
import { endOfRun, startOfRun } from "./words.ts";

/** The range of a text object: offsets from `start` to `end`, or whole lines. */
export type TextRange = {
  start: number;
  end: number;
  linewise: boolean;
  /** Operators adjust its end as that of such a motion. */
  kind?: "exclusive" | "inclusive";
};

type TextObject = (text: string, cursor: number, around: boolean, count: number) => TextRange | undefined;

const BRACKETS: Readonly<Record<string, readonly [string, string]>> = {
  "(": ["(", ")"],
  ")": ["(", ")"],
  b: ["(", ")"],
  "[": ["[", "]"],
  "]": ["[", "]"],
  "{": ["{", "}"],
  "}": ["{", "}"],
  B: ["{", "}"],
  "<": ["<", ">"],
  ">": ["<", ">"],
};

export function textObject(key: string): TextObject | undefined {
  if (key === "w" || key === "W") return (...args) => word(key === "W", ...args);
  if (key === '"' || key === "'" || key === "`")
    return (text, cursor, around) => quoted(key, text, cursor, around);
  if (key === "p") return paragraph;
  if (key === "s") return sentence;
  const pair = BRACKETS[key];
  return pair && ((...args) => bracketed(pair, ...args));
}

function word(
  bigWord: boolean,
  text: string,
  cursor: number,
  around: boolean,
  count: number,
): TextRange | undefined {
  const start = startOfRun(text, cursor, bigWord);
  const startsBlank = classAt(text, cursor, bigWord) === "blank";
  const blankAt = (at: number) => classAt(text, at, bigWord) === "blank";
  let end = cursor;
  for (let i = 0; i < count; i++) {
    if (i > 0 && end >= lineEnd(text, end)) return;
    end = afterRun(text, end, bigWord);
    if (!around || blankAt(end) === startsBlank) continue;
    if (startsBlank && end >= lineEnd(text, end)) return;
    end = afterRun(text, end, bigWord);
  }
  if (!around || startsBlank || isBlank(text[previous(text, end)])) return { start, end, linewise: false };
  return { start: blanksBefore(text, start), end, linewise: false };
}

const afterRun = (text: string, at: number, bigWord: boolean) =>
  at >= lineEnd(text, at) ? at : next(text, endOfRun(text, at, bigWord));

/** White space before a word counts unless it is the indentation of the line. */
function blanksBefore(text: string, from: number): number {
  const line = lineStart(text, from);
  let at = from;
  while (at > line && isBlank(text[at - 1])) at--;
  return at === line ? from : at;
}

function quoted(quote: string, text: string, cursor: number, around: boolean): TextRange | undefined {
  const pair = quotePair(quote, text, cursor);
  if (!pair) return;
  const [open, close] = pair;
  if (!around) return { start: open + 1, end: close, linewise: false };
  const limit = lineEnd(text, cursor);
  let end = close + 1;
  while (end < limit && isBlank(text[end])) end++;
  if (end > close + 1) return { start: open, end, linewise: false };
  let start = open;
  while (start > lineStart(text, cursor) && isBlank(text[start - 1])) start--;
  return { start, end, linewise: false };
}

/** The pair around the cursor or, when there is none, the first one after it in the line. */
function quotePair(quote: string, text: string, cursor: number): [number, number] | undefined {
  const limit = lineEnd(text, cursor);
  const quotes: number[] = [];
  for (let i = lineStart(text, cursor); i < limit; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) quotes.push(i);
  }
  for (let i = 0; i + 1 < quotes.length; i++) {
    const [open, close] = [quotes[i]!, quotes[i + 1]!];
    const inside = open <= cursor && cursor <= close;
    if (inside && (cursor !== close || i % 2 === 0)) {
      // On a quote the pairs are counted from the start of the line.
      if (text[cursor] === quote && i % 2 === 1) continue;
      return [open, close];
    }
    if (open > cursor) return [open, close];
  }
  return undefined;
}

function bracketed(
  [open, close]: readonly [string, string],
  text: string,
  cursor: number,
  around: boolean,
  count: number,
): TextRange | undefined {
  let start = text[cursor] === open ? cursor : unmatched(text, cursor, -1, close, open);
  // Outside any pair, the next one is meant.
  if (start === undefined && count === 1 && text.includes(open, cursor)) start = text.indexOf(open, cursor);
  for (let i = 1; i < count && start !== undefined; i++) start = unmatched(text, start, -1, close, open);
  if (start === undefined) return;
  const end = unmatched(text, start, 1, open, close);
  if (end === undefined) return;
  return around ? { start, end: end + 1, linewise: false } : insideBrackets(text, start, end);
}

/** Walks from `from` to the first `wanted` bracket without a matching `nested` one. */
function unmatched(
  text: string,
  from: number,
  step: 1 | -1,
  nested: string,
  wanted: string,
): number | undefined {
  let depth = 0;
  for (let i = from + step; i >= 0 && i < text.length; i += step) {
    if (text[i] === nested) depth++;
    if (text[i] === wanted && depth-- === 0) return i;
  }
  return undefined;
}

/** Brackets on their own lines keep those lines: `ci{` in a block edits the lines between them. */
function insideBrackets(text: string, open: number, close: number): TextRange {
  let start = open + 1;
  let end = close;
  if (text[start] === "\n" && rowOf(text, close) > rowOf(text, open)) {
    start++;
    const closing = lineStart(text, close);
    if (closing >= start && [...text.slice(closing, close)].every(isBlank)) {
      end = Math.max(start, closing - 1);
      return { start, end, linewise: closing > start };
    }
  }
  return { start, end, linewise: false };
}

function paragraph(text: string, cursor: number, around: boolean, count: number): TextRange | undefined {
  const blankRow = (row: number) => {
    const start = startOfRow(text, row);
    return [...text.slice(start, lineEnd(text, start))].every(isBlank);
  };
  const last = lastRow(text);
  let first = rowOf(text, cursor);
  let end = first;
  const startsBlank = blankRow(first);
  while (first > 0 && blankRow(first - 1) === startsBlank) first--;
  const runs = around ? count * 2 : count;
  for (let i = 0; i < runs; i++) {
    if (i > 0 && end >= last) {
      if (!around || i + 1 < runs || startsBlank) return;
      while (first > 0 && blankRow(first - 1)) first--;
      break;
    }
    if (i > 0) end++;
    while (end < last && blankRow(end + 1) === blankRow(end)) end++;
  }
  return {
    start: startOfRow(text, first),
    end: onCharacter(text, lineEnd(text, startOfRow(text, end))),
    linewise: true,
  };
}
