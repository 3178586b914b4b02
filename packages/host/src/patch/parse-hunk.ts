import { type Hunk, type HunkLine, malformed } from "./change.ts";

/** A parsed line that starts with @@. */
export interface HunkHeader {
  readonly line?: number;
  readonly anchors: readonly string[];
  /** The stated numbers of old and new lines; people and models miscount, so it is a hint. */
  readonly counts?: { readonly old: number; readonly new: number };
}

/** The lines of a patch, and the number of the one that is parsed next. */
export class PatchLines {
  readonly lines: readonly string[];
  at = 0;

  constructor(lines: readonly string[]) {
    this.lines = lines;
  }

  get isDone(): boolean {
    return this.at >= this.lines.length;
  }

  /** The next line; "" at the end. */
  get line(): string {
    return this.lines[this.at] ?? "";
  }

  skipEmpty(): void {
    while (!this.isDone && this.line.trim() === "") this.at++;
  }
}

/** Whether a hunk ends before this line. */
type IsEnd = (lines: readonly string[], at: number) => boolean;

/** The heading after it is a line of the file, and may contain characters that JavaScript treats as line ends. */
const NUMBERS = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))?(?: @@[^\n]*)?$/;

export const isHunkHeader = (line: string): boolean => /^@@(?!@)/.test(line);

export function parseHunkHeader(line: string): HunkHeader {
  const header = line.trimEnd();
  const numbers = NUMBERS.exec(header);
  if (!numbers) {
    const anchor = header.slice(2).replace(/@@$/, "").trim();
    return { anchors: anchor === "" || anchor === "..." ? [] : [anchor] };
  }
  const start = Number(numbers[1]);
  const old = Number(numbers[2] ?? 1);
  const added = Number(numbers[3] ?? 1);
  // An empty range names the line before it, so it already counts from 0.
  return { line: old === 0 ? start : Math.max(0, start - 1), anchors: [], counts: { old, new: added } };
}

/** Parses the lines below a header: as many as it states if that ends the body, otherwise up to `isEnd`. */
export function parseHunkBody(patch: PatchLines, { line, anchors, counts }: HunkHeader, isEnd: IsEnd): Hunk {
  const { lines, at: start } = patch;
  patch.at = countedEnd(lines, start, counts, isEnd) ?? bodyEnd(lines, start, isEnd);
  return { line, anchors, atEnd: false, lines: toHunkLines(lines, start, patch.at) };
}

function countedEnd(
  lines: readonly string[],
  start: number,
  counts: HunkHeader["counts"],
  isEnd: IsEnd,
): number | undefined {
  if (!counts) return undefined;
  let { old, new: added } = counts;
  let at = start;
  for (; at < lines.length && (old > 0 || added > 0 || lines[at]!.startsWith("\\")); at++) {
    const op = opOf(lines[at]!);
    if (op === undefined) return undefined;
    if (op === " " || op === "-") old--;
    if (op === " " || op === "+") added--;
    if (old < 0 || added < 0) return undefined;
  }
  let after = at;
  while (after < lines.length && lines[after]!.trim() === "") after++;
  const ends = after === lines.length || isEnd(lines, after) || SIGNATURE.test(lines[after]!);
  return old === 0 && added === 0 && ends ? at : undefined;
}

/** The end of a mail body. As a line of a hunk it would remove "- ". */
export const SIGNATURE = /^-- \r?$/;

/** Empty lines at the end of a body separate it from the next part and do not belong to it. */
function bodyEnd(lines: readonly string[], start: number, isEnd: IsEnd): number {
  let end = start;
  while (end < lines.length && !isEnd(lines, end)) end++;
  while (end > start && lines[end - 1]!.trimEnd() === "" && !lines[end - 1]!.startsWith(" ")) end--;
  return end;
}

/** An empty line is an empty context line that lost its space. */
function opOf(line: string): HunkLine["op"] | "\\" | undefined {
  const char = line[0] ?? " ";
  if (char === "\r" && line.length === 1) return " ";
  return char === " " || char === "-" || char === "+" || char === "\\" ? char : undefined;
}

function toHunkLines(lines: readonly string[], start: number, end: number): HunkLine[] {
  const hunkLines: HunkLine[] = [];
  for (let at = start; at < end; at++) {
    const line = lines[at]!;
    const op = opOf(line);
    if (op === undefined) throw malformed(at, "a line of a hunk starts with a space, '-' or '+'");
    if (op !== "\\") hunkLines.push(toHunkLine(op, line));
    else if (hunkLines.length === 0)
      throw malformed(at, "there is no line before it that could lack a newline");
    else hunkLines.push(withoutNewline(hunkLines.pop()!, line));
  }
  if (hunkLines.length === 0) throw malformed(start - 1, "the hunk has no lines");
  checkNewlineMarks(hunkLines, start);
  return hunkLines;
}

function toHunkLine(op: HunkLine["op"], line: string): HunkLine {
  const text = /^[ +-]/.test(line) ? line.slice(1) : line;
  return text.endsWith("\r") ? { op, text: text.slice(0, -1), eol: "\r\n" } : { op, text, eol: "\n" };
}

/** A CR before a missing newline belongs to the line, unless the whole patch has CRLF, as its marker then shows. */
function withoutNewline({ op, text, eol }: HunkLine, mark: string): HunkLine {
  return { op, text: eol === "\r\n" && !mark.endsWith("\r") ? `${text}\r` : text, eol: "" };
}

function checkNewlineMarks(lines: readonly HunkLine[], start: number): void {
  for (const other of ["+", "-"] as const) {
    const side = lines.filter(({ op }) => op !== other);
    if (side.slice(0, -1).some(({ eol }) => eol === "")) {
      throw malformed(start - 1, "only the last old and the last new line of the hunk can lack a newline");
    }
  }
}
