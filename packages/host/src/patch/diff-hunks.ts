import { type StructuredPatchHunk, structuredPatch } from "diff";

const CONTEXT_LINES = 3;
/** The work is quadratic; beyond this, all lines between the first and the last difference are replaced. */
const MAX_EDIT_LENGTH = 1_000;

/** The hunks of a unified diff between two texts, with three lines of context. */
export function diffHunks(before: string, after: string): string {
  const limits = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
  const patch = structuredPatch("", "", before, after, "", "", limits);
  return (patch?.hunks ?? [oneHunk(before, after)])
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const header = `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
      return `${[header, ...lines].join("\n")}\n`;
    })
    .join("");
}

/** An empty range names the line before it. */
function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;
}

function oneHunk(before: string, after: string): StructuredPatchHunk {
  const [old, made] = [toLines(before), toLines(after)];
  const most = Math.min(old.length, made.length);
  let start = 0;
  while (start < most && old[start] === made[start]) start++;
  let same = 0;
  while (same < most - start && old.at(-1 - same) === made.at(-1 - same)) same++;
  const [from, oldEnd] = [Math.max(0, start - CONTEXT_LINES), old.length - same];
  const lead = old.slice(from, start);
  const removed = old.slice(start, oldEnd);
  const added = made.slice(start, made.length - same);
  const tail = old.slice(oldEnd, oldEnd + CONTEXT_LINES);
  const context = lead.length + tail.length;
  return {
    oldStart: from + 1,
    oldLines: context + removed.length,
    newStart: from + 1,
    newLines: context + added.length,
    lines: [...marked(" ", lead), ...marked("-", removed), ...marked("+", added), ...marked(" ", tail)],
  };
}

/** With their endings, so that a last line without one differs. */
const toLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const marked = (op: string, lines: readonly string[]): string[] =>
  lines.map(
    (line) => op + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`),
  );
