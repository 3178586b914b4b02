import { type Eol, type Match, patchFailed, type Splice, type StructuredEdit } from "./change.ts";
import { type LineFinder, squeeze } from "./find-lines.ts";
import { noteIndent, pairIndents, reindent } from "./indentation.ts";
import { countBelow, eolAt, type Lines, lineOf, splitLines, startOf, textAt } from "./lines.ts";
import { MAX_SHOWN_PLACES, nearestCandidates, toCandidates } from "./nearest.ts";

type Replace = StructuredEdit & { op: "replace" };
type Names = { readonly number: number; readonly toDisplay: (text: string) => string };

/**
 * All occurrences of `old`: exact, otherwise as whole lines with different whitespace. Refused unless there are
 * `count` of them.
 */
export function findReplaced(
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
  const places = squeeze(edit.old).trim() === "" ? [] : finder.find(linesOf(edit.old), 0, "whitespace");
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
