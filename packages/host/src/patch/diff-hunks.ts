import { diffArrays } from "diff";
import { type Lines, toLines } from "./lines.ts";

const CONTEXT_LINES = 3;
/** The work is quadratic; beyond this, all lines between the first and the last difference are replaced. */
const MAX_EDIT_LENGTH = 1_000;

/** The hunks of a unified diff between two texts, with three lines of context. */
export function diffHunks(before: string, after: string): string {
  const [old, made] = [toLines(before), toLines(after)];
  return inHunks(differences(old, made))
    .map((group) => renderHunk(group, old, made))
    .join("");
}

/** Lines `oldStart` to `oldEnd` of the old text became `newStart` to `newEnd` of the new one. */
interface Difference {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

function differences(old: Lines, made: Lines): Difference[] {
  const start = commonStart(old, made);
  const end = commonEnd(old, made, start);
  const oldEnd = old.count - end;
  const newEnd = made.count - end;
  if (start === oldEnd && start === newEnd) return [];
  const known = new Map<string, number>();
  const parts = diffArrays(lineKeys(old, start, oldEnd, known), lineKeys(made, start, newEnd, known), {
    maxEditLength: MAX_EDIT_LENGTH,
  });
  if (!parts) return [{ oldStart: start, oldEnd, newStart: start, newEnd }];
  const found: Difference[] = [];
  let [at, newAt] = [start, start];
  let last: Difference | undefined;
  for (const { added, removed, count } of parts) {
    const [oldStart, newStart] = [at, newAt];
    if (!added) at += count;
    if (!removed) newAt += count;
    if (!added && !removed) last = undefined;
    else {
      if (last) found.pop();
      last = {
        oldStart: last?.oldStart ?? oldStart,
        oldEnd: at,
        newStart: last?.newStart ?? newStart,
        newEnd: newAt,
      };
      found.push(last);
    }
  }
  return found;
}

const wholeLine = ({ text, starts }: Lines, at: number) => text.slice(starts[at], starts[at + 1]);

function commonStart(a: Lines, b: Lines): number {
  const most = Math.min(a.count, b.count);
  let length = 0;
  while (length < most && wholeLine(a, length) === wholeLine(b, length)) length++;
  return length;
}

function commonEnd(a: Lines, b: Lines, start: number): number {
  const most = Math.min(a.count, b.count) - start;
  let length = 0;
  while (length < most && wholeLine(a, a.count - 1 - length) === wholeLine(b, b.count - 1 - length)) length++;
  return length;
}

/** Numbers instead of lines: lines that are equal, including their endings, have equal numbers. */
const lineKeys = (lines: Lines, from: number, to: number, known: Map<string, number>): number[] =>
  Array.from({ length: to - from }, (_, i) => {
    const line = wholeLine(lines, from + i);
    const key = known.get(line) ?? known.size;
    known.set(line, key);
    return key;
  });

/** Differences whose context overlaps share a hunk. */
function inHunks(found: readonly Difference[]): Difference[][] {
  const groups: Difference[][] = [];
  for (const difference of found) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    if (group && before && difference.oldStart - before.oldEnd <= 2 * CONTEXT_LINES) group.push(difference);
    else groups.push([difference]);
  }
  return groups;
}

function renderHunk(group: readonly Difference[], old: Lines, made: Lines): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const lead = Math.min(CONTEXT_LINES, first.oldStart);
  const end = Math.min(old.count, last.oldEnd + CONTEXT_LINES);
  const [oldStart, newStart] = [first.oldStart - lead, first.newStart - lead];
  const newEnd = last.newEnd + (end - last.oldEnd);
  const lines: string[] = [`@@ -${range(oldStart, end)} +${range(newStart, newEnd)} @@\n`];
  let at = oldStart;
  for (const difference of group) {
    pushLines(lines, " ", old, at, difference.oldStart);
    pushLines(lines, "-", old, difference.oldStart, difference.oldEnd);
    pushLines(lines, "+", made, difference.newStart, difference.newEnd);
    at = difference.oldEnd;
  }
  pushLines(lines, " ", old, at, end);
  return lines.join("");
}

/** An empty range names the line before it. */
function range(start: number, end: number): string {
  const count = end - start;
  return count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`;
}

function pushLines(lines: string[], op: string, text: Lines, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const line = wholeLine(text, at);
    lines.push(op, line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`);
  }
}
