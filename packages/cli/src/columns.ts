import { stripVTControlCharacters } from "node:util";

const GAP = "  ";

/** Rows as lines, with each column padded to its widest cell except the last. */
export function toColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd(),
  );
}

/**
 * An approximation for tables: wide East Asian characters and emoji count two, combining marks count zero.
 */
function widthOf(cell: string): number {
  const plain = stripVTControlCharacters(cell);
  if (ASCII.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(plain)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

const ASCII = /^[\x20-\x7e]*$/;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
