import { type Line, lineWidth, type Span, span, wrap } from "../styled.ts";

type Cell = readonly Span[];
type Align = "center" | "left" | "right" | null;

const SEPARATOR = " │ ";
const MIN_COLUMN = 3;

/** Draws a table that fits the width; when it cannot, each row becomes a short list of its cells. */
export function renderTable(
  rows: readonly (readonly Cell[])[],
  align: readonly Align[],
  width: number,
): Line[] {
  const [header = [], ...body] = rows;
  const columns = columnWidths(rows, header.length, width);
  if (!columns) return asRecords(header, body, width);
  const rule = [span(columns.map((size) => "─".repeat(size)).join("─┼─"), { role: "rule" })];
  const bold = header.map((cell) => cell.map(({ text, style }) => span(text, { ...style, bold: true })));
  return [...row(bold, columns, align), rule, ...body.flatMap((cells) => row(cells, columns, align))];
}

/** Narrow columns keep their size; wide ones share the rest. undefined when there is no room. */
function columnWidths(
  rows: readonly (readonly Cell[])[],
  count: number,
  width: number,
): number[] | undefined {
  const room = width - SEPARATOR.length * (count - 1);
  if (room < count * MIN_COLUMN) return;
  const wanted = Array.from({ length: count }, (_, i) =>
    Math.max(MIN_COLUMN, ...rows.map((cells) => lineWidth(cells[i] ?? []))),
  );
  const sizes = [...wanted];
  let excess = sizes.reduce((sum, size) => sum + size, 0) - room;
  while (excess > 0) {
    const widest = sizes.indexOf(Math.max(...sizes));
    const second = Math.max(MIN_COLUMN, ...sizes.filter((size) => size < sizes[widest]!));
    const cut = Math.min(excess, Math.max(1, sizes[widest]! - second));
    sizes[widest]! -= cut;
    excess -= cut;
  }
  return sizes;
}

function row(cells: readonly Cell[], columns: readonly number[], align: readonly Align[]): Line[] {
  const wrapped = columns.map((size, i) => wrap(cells[i] ?? [], size));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    columns.flatMap((size, i) => {
      const line = wrapped[i]?.[at] ?? [];
      const padded = pad(line, size, align[i] ?? null, i === columns.length - 1);
      return i === 0 ? padded : [span(SEPARATOR, { role: "rule" }), ...padded];
    }),
  );
}

function pad(line: Line, size: number, align: Align, last: boolean): Line {
  const free = Math.max(size - lineWidth(line), 0);
  const left = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  const right = last ? 0 : free - left;
  return [
    ...(left > 0 ? [span(" ".repeat(left))] : []),
    ...line,
    ...(right > 0 ? [span(" ".repeat(right))] : []),
  ];
}

function asRecords(header: readonly Cell[], body: readonly (readonly Cell[])[], width: number): Line[] {
  return body.flatMap((cells, at) => {
    const lines = cells.flatMap((cell, i) =>
      wrap(
        [
          ...(header[i] ?? []).map(({ text, style }) => span(text, { ...style, bold: true })),
          span(": "),
          ...cell,
        ],
        width,
      ),
    );
    return at === 0 ? lines : [[], ...lines];
  });
}
