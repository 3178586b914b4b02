interface Prefix {
  readonly first: string;
  readonly rest: string;
  isUsed: boolean;
}

/** Deeper lists and quotes are flattened to this depth, because every line would repeat all prefixes. */
const MAX_DEPTH = 16;

/** Stacks blocks with the prefixes of their lists and quotes. */
export function createWriter() {
  const lines: string[] = [];
  const prefixes: Prefix[] = [];
  let tooDeep = 0;
  let isTight = false;

  const linePrefix = () =>
    prefixes
      .map((prefix) => {
        const mark = prefix.isUsed ? prefix.rest : prefix.first;
        prefix.isUsed = true;
        return mark;
      })
      .join("");
  const emptyLine = () =>
    prefixes
      .filter(({ isUsed }) => isUsed)
      .map(({ rest }) => rest)
      .join("")
      .trimEnd();

  return {
    block(added: readonly string[]): void {
      if (lines.length > 0 && !isTight) lines.push(emptyLine());
      isTight = false;
      for (const line of added) lines.push((linePrefix() + line).trimEnd());
    },
    /** Starts a container with this prefix on its first line, and the other on the rest. */
    indent(first: string, rest: string): void {
      if (prefixes.length === MAX_DEPTH) tooDeep++;
      else prefixes.push({ first, rest, isUsed: false });
    },
    outdent(): void {
      if (tooDeep > 0) tooDeep--;
      else prefixes.pop();
    },
    /** The next block follows without an empty line, like items of a list. */
    tighten(value: boolean): void {
      isTight = value;
    },
    text: () => (lines.length === 0 ? "" : `${lines.join("\n")}\n`),
  };
}

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
