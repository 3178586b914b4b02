/** A line of a diff; the numbers are 1-based, undefined on the side where the line does not exist. */
export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly old?: number | undefined;
  readonly new?: number | undefined;
  readonly text: string;
  /** The part of a changed line that differs from its counterpart: from, to. */
  readonly changed?: readonly [number, number] | undefined;
}

export interface DiffFile {
  readonly path: string;
  /** Such as "new file" or "renamed from a.ts". */
  readonly note?: string | undefined;
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** The preview of a file that does not exist yet: its name, and every line added. */
const isNewFile = (text: string): boolean => text.startsWith("+++ ") && !/\n[^+]/.test(text.trimEnd());

/** Whether a text looks like a diff at all. */
export const isDiff = (text: string): boolean =>
  /^(?:--- .*\n\+\+\+ |@@ -\d|\*\*\* Begin Patch)/m.test(text) ||
  /^diff --git /m.test(text) ||
  isNewFile(text);

/** Reads a unified diff of one or many files, or the `*** Begin Patch` form. */
export function parseDiff(text: string): readonly DiffFile[] {
  if (isNewFile(text)) return [newFile(text)];
  const files: Draft[] = [];
  let file: Draft | undefined;
  let at: Place | undefined;
  const begin = (path: string, note?: string) => {
    file = { path, note, rows: [] };
    at = undefined;
    files.push(file);
    return file;
  };
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    // Within a hunk every line is content, also one that looks like a header.
    if (file && at && isInside(at)) {
      addLine(file, at, line);
      continue;
    }
    const section = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line);
    if (section) {
      begin(
        section[2] ?? "",
        section[1] === "Update" ? undefined : section[1] === "Add" ? "new file" : "deleted",
      );
      at = { old: 1, new: 1, oldLeft: 0, newLeft: 0 };
    } else if (/^\*\*\* (Begin|End) Patch/.test(line)) at = undefined;
    else if (line.startsWith("*** Move to: ") && file) file.note = `renamed to ${line.slice(13)}`;
    else if (line.startsWith("diff --git ")) begin(pathOf(line.slice(11).split(" ")[1] ?? ""));
    else if (isHeader(line, lines[i + 1])) {
      const [from, to] = [pathOf(line.slice(4)), pathOf((lines[++i] ?? "").slice(4))];
      const path = to === "/dev/null" ? from : to;
      const current = file && file.rows.length === 0 ? file : begin(path);
      current.path = path;
      if (from === "/dev/null") current.note = "new file";
      if (to === "/dev/null") current.note = "deleted";
      at = undefined;
    } else if (/^(?:rename|copy) from /.test(line) && file)
      file.note = line.replace(/^(rename|copy) from/, "$1d from").replace("copyd", "copied");
    else if (line.startsWith("new file") && file) file.note = "new file";
    else if (line.startsWith("deleted file") && file) file.note = "deleted";
    else if (line.startsWith("@@")) {
      const hunk = HUNK.exec(line);
      at = {
        old: Number(hunk?.[1] ?? at?.old ?? 1),
        new: Number(hunk?.[3] ?? at?.new ?? 1),
        oldLeft: hunk ? Number(hunk[2] ?? 1) : 0,
        newLeft: hunk ? Number(hunk[4] ?? 1) : 0,
      };
      file ??= begin("");
      file.rows.push({ kind: "gap", text: hunk?.[5] ?? line.replace(/^@@ ?/, "") });
    } else if (at && file) addLine(file, at, line);
  }
  return files.map(finish);
}

function newFile(text: string): DiffFile {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const rows = lines.map((line, index): DiffRow => ({ kind: "added", new: index + 1, text: line.slice(1) }));
  return { path: pathOf(head.slice(4)), note: "new file", rows, added: rows.length, removed: 0 };
}

/** The next line of each side, and how many the hunk still has according to its header. */
interface Place {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

const isInside = ({ oldLeft, newLeft }: Place): boolean => oldLeft > 0 || newLeft > 0;

interface Draft {
  path: string;
  note: string | undefined;
  readonly rows: DiffRow[];
}

const isHeader = (line: string, next: string | undefined): boolean =>
  line.startsWith("--- ") && (next ?? "").startsWith("+++ ");

/** Without `a/`, quotes and the time that some programs add. */
const pathOf = (name: string): string =>
  name
    .replace(/\t.*$/, "")
    .replace(/^"(.*)"$/, "$1")
    .replace(/^[abciow]\//, "");

function addLine(file: Draft, at: Place, line: string): void {
  const text = line.slice(1);
  if (line.startsWith("\\")) {
    file.rows.push({ kind: "gap", text: text.trim() });
    return;
  }
  const isAdded = line.startsWith("+");
  const isRemoved = line.startsWith("-");
  const kind = isAdded ? "added" : isRemoved ? "removed" : "same";
  file.rows.push({
    kind,
    ...(!isAdded && { old: at.old++ }),
    ...(!isRemoved && { new: at.new++ }),
    // A line without a mark is shown whole: nothing of a diff is hidden.
    text: isAdded || isRemoved || line.startsWith(" ") ? text : line,
  });
  if (!isAdded) at.oldLeft--;
  if (!isRemoved) at.newLeft--;
}

function finish({ path, note, rows }: Draft): DiffFile {
  return {
    path,
    note,
    rows: markChanges(rows),
    added: rows.filter(({ kind }) => kind === "added").length,
    removed: rows.filter(({ kind }) => kind === "removed").length,
  };
}

/** Pairs removed lines with the added ones that follow, and marks what differs within each pair. */
export function markChanges(rows: readonly DiffRow[]): readonly DiffRow[] {
  const marked = [...rows];
  for (let i = 0; i < rows.length; ) {
    if (rows[i]?.kind !== "removed") {
      i++;
      continue;
    }
    let middle = i;
    while (rows[middle]?.kind === "removed") middle++;
    let end = middle;
    while (rows[end]?.kind === "added") end++;
    if (end - middle === middle - i) for (let k = 0; k < middle - i; k++) markPair(marked, i + k, middle + k);
    i = end;
  }
  return marked;
}

function markPair(rows: DiffRow[], a: number, b: number): void {
  const [before, after] = [rows[a], rows[b]];
  if (!before || !after) return;
  const shorter = Math.min(before.text.length, after.text.length);
  let head = 0;
  while (head < shorter && before.text[head] === after.text[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.text.at(-1 - tail) === after.text.at(-1 - tail)) tail++;
  // Lines with little in common are clearer without marks.
  if (head + tail < shorter / 3) return;
  // A mark never splits a pair of surrogates.
  if (/[\ud800-\udbff]/.test(before.text[head - 1] ?? "")) head--;
  if (/[\udc00-\udfff]/.test(before.text.at(-tail) ?? "") && tail > 0) tail--;
  rows[a] = { ...before, changed: [head, before.text.length - tail] };
  rows[b] = { ...after, changed: [head, after.text.length - tail] };
}

/** The structured edits of fs.apply_patch, as rows. */
export function editsToRows(edits: readonly unknown[]): readonly DiffRow[] {
  return markChanges(
    edits.flatMap((edit, index): DiffRow[] => {
      const { op, old, new: fresh, text, line, range } = Object(edit);
      const head: DiffRow = {
        kind: "gap",
        text: `edit ${index + 1}: ${op}${line === undefined ? "" : ` at line ${line}`}`,
      };
      if (op === "delete")
        return [
          head,
          { kind: "removed", text: range ? `lines ${range.start?.line} to ${range.end?.line}` : "" },
        ];
      return [head, ...toLines(old, "removed"), ...toLines(fresh ?? text, "added")];
    }),
  );
}

export const toLines = (text: unknown, kind: DiffRow["kind"]): DiffRow[] =>
  typeof text === "string" && text !== ""
    ? text
        .replace(/\n$/, "")
        .split("\n")
        .map((line): DiffRow => ({ kind, text: line }))
    : [];
