const MAX_COLUMNS = 100;

export type Table = ReturnType<typeof createTable>;

/** A data table under construction. */
export function createTable(index: number) {
  const rows: string[][] = [];
  return {
    index,
    row: () => void rows.push([]),
    cell(text: string, span: number): void {
      if (rows.length === 0) rows.push([]);
      const row = rows.at(-1)!;
      if (row.length >= MAX_COLUMNS) return;
      row.push(text.replaceAll("|", "\\|"));
      for (let more = 1; more < span && row.length < MAX_COLUMNS; more++) row.push("");
    },
    /** As GFM; the first row is the header. */
    lines(): string[] {
      const filled = rows.filter((row) => row.some((cell) => cell !== ""));
      const [head, ...body] = filled;
      if (!head) return [];
      const columns = filled.reduce((most, row) => Math.max(most, row.length), 0);
      while (head.length < columns) head.push("");
      const toLine = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
      return [toLine(head), toLine(head.map(() => "---")), ...body.map(toLine)];
    },
  };
}
