import type { Edited, Eol, Hunk, HunkLine, HunkReport, Match, Splice } from "./change.ts";
import { lineFinder } from "./find-lines.ts";
import { noteIndent, pairIndents, reindent } from "./indentation.ts";
import { eolAt, type Lines, startOf, textAt } from "./lines.ts";
import { type Place, placeHunk } from "./place-hunk.ts";

/** Locates every hunk in the file, in order, and converts it to splices, which exclude context lines. */
export function editByHunks(
  lines: Lines,
  hunks: readonly Hunk[],
  toDisplay: (text: string) => string,
): Edited {
  const finder = lineFinder(lines);
  const splices: Splice[] = [];
  const reports: HunkReport[] = [];
  let match: Match = "exact";
  let from = 0;
  let growth = 0;
  for (const [i, hunk] of hunks.entries()) {
    const place = placeHunk(hunk, { finder, from, number: i + 1, toDisplay });
    for (const splice of toSplices(lines, hunk, place)) splices.push(splice);
    const added = count(hunk, "+");
    const removed = count(hunk, "-");
    const offset = hunk.line === undefined ? 0 : place.line - hunk.line;
    reports.push({ line: place.line + growth, added, removed, offset });
    growth += added - removed;
    from = place.line + count(hunk, " ") + removed;
    if (place.match === "whitespace") match = "whitespace";
  }
  return { splices, hunks: reports, match };
}

const count = (hunk: Hunk, op: HunkLine["op"]) => hunk.lines.filter((line) => line.op === op).length;

/** One splice per run of removed and added lines. */
function toSplices(lines: Lines, hunk: Hunk, place: Place): Splice[] {
  const old = hunk.lines.filter(({ op }) => op !== "+");
  const indents =
    place.match === "whitespace"
      ? pairIndents(old.map(({ text }, i) => [text, textAt(lines, place.line + i)]))
      : undefined;
  const knowsEndings = knowsEndingsOf(lines, old, place.line);
  const splices: Splice[] = [];
  let at = place.line;
  for (let i = 0; i < hunk.lines.length; ) {
    const run: Run = { at, removed: [], added: [] };
    for (; i < hunk.lines.length && hunk.lines[i]!.op !== " "; i++) {
      const line = hunk.lines[i]!;
      if (line.op === "+") run.added.push(indents ? { ...line, text: reindent(line.text, indents) } : line);
      else {
        if (indents) noteIndent(indents, line.text, textAt(lines, at));
        run.removed.push(line);
        at++;
      }
    }
    if (run.removed.length + run.added.length > 0) splices.push(toSplice(lines, run, knowsEndings));
    for (; i < hunk.lines.length && hunk.lines[i]!.op === " "; i++) {
      if (indents) noteIndent(indents, hunk.lines[i]!.text, textAt(lines, at));
      at++;
    }
  }
  return splices;
}

interface Run {
  readonly at: number;
  readonly removed: HunkLine[];
  readonly added: HunkLine[];
}

/**
 * Whether the patch was made from this file's line endings, as git does: its added lines then keep their own. A patch
 * written by a model has arbitrary endings, and its added lines get those of the file.
 */
function knowsEndingsOf(lines: Lines, old: readonly HunkLine[], at: number): boolean {
  const endings = old.map((_, i) => eolAt(lines, at + i));
  return endings.some((eol) => eol !== "") && endings.every((eol, i) => eol === "" || eol === old[i]!.eol);
}

function toSplice(lines: Lines, run: Run, knowsEndings: boolean): Splice {
  const next = run.at + run.removed.length;
  const added = run.added.map(({ text, eol }, i) => ({
    text,
    eol: knowsEndings || eol === "" ? eol : fileEol(lines, run, i) || eol,
  }));
  const lastAdded = added.at(-1);
  const lastRemoved = run.removed.at(-1);
  if (lastAdded && lastRemoved && lastRemoved.eol !== "" && eolAt(lines, next - 1) === "") lastAdded.eol = "";
  const afterOpenEnd = lastAdded && !lastRemoved && run.at > 0 && eolAt(lines, run.at - 1) === "";
  const text = added.map((line) => line.text + line.eol).join("");
  return {
    start: startOf(lines, run.at),
    end: startOf(lines, next),
    text: afterOpenEnd ? (fileEol(lines, run, 0) || "\n") + text : text,
  };
}

/** The ending of the line that added line `i` replaces, or of the surrounding lines; "" when none of them has one. */
function fileEol(lines: Lines, { at, removed }: Run, i: number): Eol {
  const replaced = i < removed.length ? eolAt(lines, at + i) : eolAt(lines, at + removed.length - 1);
  return replaced || eolAt(lines, at - 1) || eolAt(lines, at) || eolAt(lines, at - 2);
}
