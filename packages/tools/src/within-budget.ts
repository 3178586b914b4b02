import { ANSWER_BYTES } from "@octant/core";

/** As many items as fit into one answer, but at least one, so that a reader makes progress. */
export function withinBudget<T>(items: readonly T[], maxBytes = ANSWER_BYTES): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return index > 0 && bytes > maxBytes;
  });
  return end < 0 ? [...items] : items.slice(0, end);
}

/** The first lines that fit into one answer. */
export function linesWithinBudget(text: string): string {
  if (text.length <= ANSWER_BYTES) return text;
  const end = text.lastIndexOf("\n", ANSWER_BYTES) + 1;
  return text.slice(0, end || ANSWER_BYTES).toWellFormed();
}
