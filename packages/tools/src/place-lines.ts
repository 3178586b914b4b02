import type { Range, Reader } from "@octant/core";

interface PlaceRow {
  readonly uri: string;
  readonly range?: Range | null | undefined;
}

/** `src/a.ts:12`, 1-based. */
const lineOf = ({ uri, range }: PlaceRow, { path }: Reader): string =>
  range ? `${path(uri)}:${range.start.line + 1}` : path(uri);

/** `src/a.ts:12:5`, as compilers write it. */
export const spotOf = (row: PlaceRow, reader: Reader): string =>
  row.range ? `${lineOf(row, reader)}:${row.range.start.col + 1}` : lineOf(row, reader);

/** `src/a.ts:12-20`; one line is `src/a.ts:12`. */
export function spanOf(row: PlaceRow, reader: Reader): string {
  const { range } = row;
  if (!range) return lineOf(row, reader);
  const last = range.end.col === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1;
  return last > range.start.line + 1 ? `${lineOf(row, reader)}-${last}` : lineOf(row, reader);
}

/** `  #Outer.inner`: the part of a symbol_id after its path. */
export const symbolOf = (id: string | null | undefined): string =>
  id ? `  ${id.slice(id.indexOf("#"))}` : "";

/** Explains how to pass the names after `#` as parameters. */
export const symbolNote = (rows: readonly { readonly symbol_id?: string | null | undefined }[]) =>
  rows.some(({ symbol_id }) => symbol_id) && "symbol_id is sym:PATH#NAME";
