import type { Motion } from "./motions.ts";
import { firstNonBlank, isBlank, lineEnd, lineStart, next, onCharacter, rowOf } from "./text.ts";
import type { TextRange } from "./text-objects.ts";

export type Edited = { text: string; cursor: number };

/** The range of an operator between the cursor and the end of a motion, with Vim's exceptions for whole lines. */
export function motionRange(text: string, cursor: number, motion: Motion, verb: string): TextRange {
  const start = Math.min(cursor, motion.to);
  const last = Math.max(cursor, motion.to);
  if (motion.kind === "linewise") return { start, end: last, linewise: true };
  const inclusive = motion.kind === "inclusive" && last < lineEnd(text, last);
  const end = inclusive ? next(text, last) : last;
  if (motion.kind === "inclusive") return wholeLines(text, { start, end, linewise: false }, verb);
  // ":help exclusive": an end in column 0 of a later line moves back to the end of the line before it.
  if (end === lineStart(text, end) && rowOf(text, end) > rowOf(text, start)) {
    const linewise = start <= firstNonBlank(text, start);
    return linewise
      ? { start, end: end - 1, linewise }
      : wholeLines(text, { start, end: end - 1, linewise }, verb);
  }
  return wholeLines(text, { start, end, linewise: false }, verb);
}

/** A delete over several lines that would leave only white space on the first and last line removes them whole. */
function wholeLines(text: string, range: TextRange, verb: string): TextRange {
  if (verb !== "d" || rowOf(text, range.start) === rowOf(text, range.end)) return range;
  const nothingAfter = [...text.slice(range.end, lineEnd(text, range.end))].every(isBlank);
  const nothingBefore = range.start <= firstNonBlank(text, range.start);
  return nothingAfter && nothingBefore ? { ...range, linewise: true } : range;
}

/** The offsets of a range, with the whole of its lines. */
export const wholeRange = (text: string, { start, end, linewise }: TextRange) =>
  linewise ? { from: lineStart(text, start), to: lineEnd(text, end) } : { from: start, to: end };

export function taken(text: string, range: TextRange): Register {
  const { from, to } = wholeRange(text, range);
  return { text: text.slice(from, to), linewise: range.linewise };
}

export function remove(text: string, range: TextRange): Edited {
  const { from, to } = wholeRange(text, range);
  if (!range.linewise) {
    const left = text.slice(0, from) + text.slice(to);
    return { text: left, cursor: onCharacter(left, from) };
  }
  const isLast = to === text.length;
  const left = isLast ? text.slice(0, Math.max(from - 1, 0)) : text.slice(0, from) + text.slice(to + 1);
  const start = isLast ? lineStart(left, left.length) : from;
  return { text: left, cursor: onCharacter(left, firstNonBlank(left, start)) };
}

/** Makes room for the typed text: whole lines become one empty line. */
export function openForChange(text: string, range: TextRange): Edited {
  const { from, to } = wholeRange(text, range);
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

export function put(
  text: string,
  cursor: number,
  register: Register,
  count: number,
  before: boolean,
): Edited {
  if (register.linewise) return putLines(text, cursor, register.text, count, before);
  const at = before || cursor >= lineEnd(text, cursor) ? cursor : next(text, cursor);
  const added = register.text.repeat(count);
  const result = text.slice(0, at) + added + text.slice(at);
  if (register.text.includes("\n")) return { text: result, cursor: onCharacter(result, at) };
  return { text: result, cursor: onCharacter(result, Math.max(at, lastOf(result, at, at + added.length))) };
}

/** The offset of the last character between two offsets. */
function lastOf(text: string, from: number, end: number): number {
  let at = from;
  for (let following = next(text, at); following < end; following = next(text, at)) at = following;
  return at;
}

function putLines(text: string, cursor: number, added: string, count: number, before: boolean): Edited {
  const block = Array.from({ length: count }, () => added).join("\n");
  const at = before ? lineStart(text, cursor) : lineEnd(text, cursor);
  const result = before
    ? `${text.slice(0, at)}${block}\n${text.slice(at)}`
    : `${text.slice(0, at)}\n${block}${text.slice(at)}`;
  return { text: result, cursor: onCharacter(result, firstNonBlank(result, before ? at : at + 1)) };
}

/** Joins lines with one space, or two after a sentence, as J does, or verbatim, as gJ does. Returns undefined when there is no line below. */
export function join(text: string, cursor: number, count: number, isVerbatim = false): Edited | undefined {
  let result = text;
  let at = cursor;
  const joins = Math.max(count, 2) - 1;
  for (let i = 0; i < joins; i++) {
    const end = lineEnd(result, cursor);
    if (end === result.length && i === 0)
      return count > 2 ? { text, cursor: lineStart(text, cursor) } : undefined;
    if (end === result.length) break;
    let start = end + 1;
    while (!isVerbatim && isBlank(result[start])) start++;
    const rest = result.slice(start);
    const noSpace =
      isVerbatim ||
      rest === "" ||
      rest.startsWith("\n") ||
      rest.startsWith(")") ||
      end === lineStart(result, end) ||
      isBlank(result[end - 1]);
    result = result.slice(0, end) + (noSpace ? "" : /[.!?]/.test(result[end - 1] ?? "") ? "  " : " ") + rest;
    at = end;
  }
  return { text: result, cursor: onCharacter(result, at) };
}

const TAB_COLUMNS = 8;

/** Moves the lines of a range by `tabs` tab stops to the right. Empty lines stay empty. */
export function shift(text: string, range: TextRange, tabs: number): Edited {
  const [from, to] = [lineStart(text, range.start), lineEnd(text, range.end)];
  const lines = text
    .slice(from, to)
    .split("\n")
    .map((line) => {
      const [blanks = ""] = /^[ \t]*/.exec(line) ?? [];
      if (line === "") return line;
      const columns = [...blanks].reduce(
        (sum, blank) => (blank === "\t" ? sum + TAB_COLUMNS - (sum % TAB_COLUMNS) : sum + 1),
        0,
      );
      const wanted = Math.max(columns + tabs * TAB_COLUMNS, 0);
      const indent = "\t".repeat(Math.floor(wanted / TAB_COLUMNS)) + " ".repeat(wanted % TAB_COLUMNS);
      return indent + line.slice(blanks.length);
    });
  const shifted = text.slice(0, from) + lines.join("\n") + text.slice(to);
  return { text: shifted, cursor: onCharacter(shifted, firstNonBlank(shifted, from)) };
}

/** Changes each character by itself and keeps its length, as Vim does. */
export function mapped(
  text: string,
  start: number,
  end: number,
  change: (character: string) => string,
): string {
  const changed = [...text.slice(start, end)].map((c) => {
    const to = change(c);
    return to.length === c.length && c !== "\n" ? to : c;
  });
  return text.slice(0, start) + changed.join("") + text.slice(end);
}

/** Yanked or deleted text, as lines or as characters. */
export type Register = { text: string; linewise: boolean };

export type Registers = Readonly<Record<string, Register>>;

const EMPTY: Register = { text: "", linewise: false };

export const readRegister = (registers: Registers, name = '"'): Register =>
  registers[name === '"' ? '"' : name.toLowerCase()] ?? EMPTY;

/** Stores the text of an operator; "_" stores nothing, a capital letter appends, and "0" has the last yank. */
export function writeRegister(
  registers: Registers,
  name: string | undefined,
  value: Register,
  yanked: boolean,
): Registers {
  if (name === "_") return registers;
  const written: Record<string, Register> = { ...registers };
  if (name === undefined || name === '"') {
    if (yanked) written["0"] = value;
    return { ...written, '"': value };
  }
  const key = name.toLowerCase();
  const whole = name === key ? value : appended(registers[key], value);
  return { ...written, [key]: whole, '"': whole };
}

function appended(old: Register | undefined, added: Register): Register {
  if (!old) return added;
  const linewise = old.linewise || added.linewise;
  return { text: old.text + (linewise ? "\n" : "") + added.text, linewise };
}
