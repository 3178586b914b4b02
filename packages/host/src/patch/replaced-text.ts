import { type Eol, type Match, patchFailed, type Splice, type StructuredEdit } from "./change.ts";
import { type LineFinder, squeeze } from "./find-lines.ts";
import { noteIndent, pairIndents, reindent } from "./indentation.ts";
import { countBelow, eolAt, type Lines, lineOf, splitLines, startOf, textAt } from "./lines.ts";
import { MAX_SHOWN_PLACES, nearestCandidates, toCandidates } from "./nearest.ts";

type Replace = StructuredEdit & { op: "replace" };
type Names = { readonly number: number; readonly toDisplay: (text: string) => string };

/**
 * All occurrences of `old`: exact, otherwise as whole lines with different whitespace, otherwise without the line
 * numbers of a listing. Refused unless there are `count` of them.
 */
export function findReplaced(
  finder: LineFinder,
  plain: PlainText,
  edit: Replace,
  names: Names,
): { splices: readonly Splice[]; match: Match } {
  const bare = withoutLineNumbers(edit);
  const isCopied = bare && !isThere(finder, plain, edit) && isThere(finder, plain, bare);
  return findExactly(finder, plain, isCopied ? bare : edit, names);
}

const isThere = (finder: LineFinder, plain: PlainText, edit: Replace): boolean =>
  findText(plain, edit).length > 0 || findLines(finder, edit).length > 0;

const findLines = (finder: LineFinder, { old }: Replace): readonly number[] =>
  squeeze(old).trim() === "" ? [] : finder.find(linesOf(old), 0, "whitespace");

/** As `cat -n`, and the readers of other agents, number lines; an arrow may be here as the bytes of its UTF-8. */
const NUMBERED = /^\s*(\d+)(?:\t|→|\xe2\x86\x92|\| ?|: ?)(.*)$/;

/** For lines that were copied with their numbers, which rise by one; undefined for other text. */
function withoutLineNumbers(edit: Replace): Replace | undefined {
  const old = toUnnumbered(edit.old);
  if (old === undefined) return undefined;
  const text = toUnnumbered(edit.new);
  // A number in only some lines may be meant.
  if (text === undefined && edit.new.split("\n").some((line) => NUMBERED.test(line))) return undefined;
  return { ...edit, old, new: text ?? edit.new };
}

function toUnnumbered(text: string): string | undefined {
  const end = /\r?\n$/.exec(text)?.[0] ?? "";
  const found = text
    .slice(0, text.length - end.length)
    .split(/\r?\n/)
    .map((line) => NUMBERED.exec(line));
  const first = Number(found[0]?.[1]);
  if (!found.every((line, at) => Number(line?.[1]) === first + at)) return undefined;
  return found.map((line) => line?.[2]).join("\n") + end;
}

function findExactly(
  finder: LineFinder,
  plain: PlainText,
  edit: Replace,
  names: Names,
): { splices: readonly Splice[]; match: Match } {
  const { lines } = finder;
  const exact = findText(plain, edit);
  if (exact.length > 0) {
    checkCount(
      finder,
      edit,
      exact.map(({ start }) => lineOf(lines, start)),
      names,
    );
    return {
      splices: exact.map((found) => ({ ...found, text: newText(lines, edit, found) })),
      match: "exact",
    };
  }
  const places = findLines(finder, edit);
  if (places.length === 0) throw notFound(finder, edit, names);
  checkCount(finder, edit, places, names);
  return { splices: places.map((at) => replaceLines(lines, edit, at)), match: "whitespace" };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text with LF for CRLF, and the mapping of its offsets to the original. */
export interface PlainText {
  readonly text: string;
  toOriginal(offset: number): number;
}

export function toPlainText(text: string): PlainText {
  if (!text.includes("\r\n")) return { text, toOriginal: (offset) => offset };
  const dropped: number[] = [];
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) {
    dropped.push(at - dropped.length);
  }
  return {
    text: text.replaceAll("\r\n", "\n"),
    toOriginal: (offset) => offset + countBelow(dropped, offset),
  };
}

/**
 * The occurrences of `old`, with LF also matching CRLF. Without a count, overlapping occurrences are two; with one,
 * they are counted from the start like in text editors. Stops soon after `count`.
 */
function findText({ text, toOriginal }: PlainText, { old, count }: Replace): Span[] {
  const pattern = old.replaceAll("\r\n", "\n");
  const step = count === undefined ? 1 : pattern.length;
  const spans: Span[] = [];
  let at = text.indexOf(pattern);
  while (at >= 0 && spans.length <= mostCounted(count)) {
    spans.push({ start: toOriginal(at), end: toOriginal(at + pattern.length) });
    at = text.indexOf(pattern, at + step);
  }
  return spans;
}

const mostCounted = (count: Replace["count"] = 1) =>
  count === "all" ? Number.POSITIVE_INFINITY : Math.max(count, MAX_SHOWN_PLACES);

function checkCount(
  finder: LineFinder,
  { count = 1 }: Replace,
  places: readonly number[],
  names: Names,
): void {
  if (count === "all" || places.length === count) return;
  const candidates = toCandidates(finder.lines, places, names.toDisplay);
  const most = mostCounted(count);
  const many = places.length > most ? `more than ${most}` : places.length;
  const shown = candidates.map(({ line }) => line + 1).join(", ");
  const message = `edit ${names.number}: \`old\` occurs ${many} times (first on lines ${shown}), not ${count}; lengthen it or set \`count\``;
  throw patchFailed(message, { hunk: names.number, line: candidates[0]!.line, candidates });
}

/** The new text with the file's line endings, unless `old` shows that the caller states them explicitly. */
function newText(lines: Lines, edit: Replace, { start, end }: Span): string {
  const old = lines.text.slice(start, end);
  if (old === edit.old && old.includes("\n")) return edit.new;
  const replaced = splitLines(old)
    .map(({ eol }) => eol)
    .filter((eol) => eol !== "");
  const around = aroundEol(lines, lineOf(lines, start));
  return splitLines(edit.new)
    .map(({ text, eol }, i) => text + (eol && (replaced[Math.min(i, replaced.length - 1)] || around || eol)))
    .join("");
}

const aroundEol = (lines: Lines, at: number): Eol => eolAt(lines, at) || eolAt(lines, at - 1);

const linesOf = (text: string) => splitLines(text).map((line) => line.text);

/** Replaces as many lines from `at` on as `old` has by the new ones in the file's indentation and endings. */
function replaceLines(lines: Lines, edit: Replace, at: number): Splice {
  const pairs = linesOf(edit.old).map((line, i) => [line, textAt(lines, at + i)] as const);
  const indents = pairIndents(pairs);
  const last = at + pairs.length - 1;
  const added = splitLines(edit.new).map(({ text, eol }, i) => {
    const pair = pairs[i];
    if (pair) noteIndent(indents, ...pair);
    return (
      reindent(text, indents) +
      (eol && (eolAt(lines, Math.min(at + i, last)) || aroundEol(lines, last) || eol))
    );
  });
  const end = startOf(lines, last + 1) - (edit.old.endsWith("\n") ? 0 : eolAt(lines, last).length);
  return { start: startOf(lines, at), end, text: added.join("") };
}

function notFound(finder: LineFinder, edit: Replace, names: Names) {
  const candidates = nearestCandidates(finder, linesOf(edit.old), 0, names.toDisplay);
  const hint = candidates[0] ? `; line ${candidates[0].line + 1} is the closest match` : "";
  return patchFailed(`edit ${names.number}: \`old\` is not in the file${hint}; read it again`, {
    hunk: names.number,
    line: candidates[0]?.line,
    candidates,
  });
}
