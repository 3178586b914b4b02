import { type ActionText, counted, type Range, type Reader } from "@octant/core";
import { spotOf } from "../place-lines.ts";
import { notSearchedNotes } from "../searched.ts";

interface FileData {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly tail?: string | undefined;
  readonly omitted?:
    | { readonly bytes: number; readonly lines: number | null; readonly start: { readonly line: number } }
    | undefined;
  readonly range?: Range | undefined;
  readonly line_count?: number | null | undefined;
  readonly eol?: string | undefined;
  readonly bom?: boolean | undefined;
  readonly truncated?: boolean | undefined;
  readonly ref?: string | undefined;
  readonly hash?: string | null | undefined;
  readonly encoding?: string | undefined;
  readonly mime?: string | undefined;
  readonly size?: number | undefined;
}

interface FailedFile {
  readonly uri: string;
  readonly error: { readonly code: string; readonly message: string };
}

interface ReadData extends FileData {
  readonly files?: readonly ((FileData & { readonly uri: string }) | FailedFile)[] | undefined;
}

export function readText(data: ReadData, reader: Reader): ActionText {
  if (!data.files) return fileText(data);
  const parts = data.files.map((file) => {
    const title = `==> ${reader.path(file.uri)} <==`;
    if ("error" in file) return `${title}\n${file.error.code}: ${file.error.message}`;
    const { body, notes = [], handles = {} } = fileText(file);
    const facts = [...notes.filter(Boolean), handles["hash"], handles["ref"] && `ref ${handles["ref"]}`];
    return `${title} ${facts.filter(Boolean).join("; ")}\n${body}`.replace(/\n$/, "");
  });
  return { body: parts.join("\n") };
}

function fileText(data: FileData): ActionText {
  const { text, base64, range, line_count, eol, bom, truncated, ref, hash, encoding, mime, size = 0 } = data;
  const handles = { hash, ...(truncated && { ref }) };
  if (encoding === "image") return { body: `${mime ?? "image"}, ${size} bytes, attached`, handles };
  if (base64 !== undefined) return { body: base64, notes: [`base64, ${size} bytes in total`], handles };
  const notes = [
    range && partOf(range, line_count),
    (eol === "crlf" || eol === "mixed") && `line ends ${eol}`,
    bom && "has a BOM",
    encoding !== "utf-8" && encoding,
    !range &&
      text !== undefined &&
      text !== "" &&
      !text.endsWith("\n") &&
      !data.tail &&
      "no newline at the end",
    text === "" && "empty",
  ];
  return { body: withMiddle(text ?? "", data), notes, handles };
}

function partOf({ start, end }: Range, count: number | null | undefined): string {
  const last = end.col === 0 && end.line > start.line ? end.line : end.line + 1;
  return `lines ${start.line + 1}-${last}${count ? ` of ${count}` : ""}`;
}

function withMiddle(head: string, { tail, omitted }: FileData): string {
  if (tail === undefined) return head;
  const from = omitted ? `; read on from line ${omitted.start.line + 1}` : "";
  const gap = `[… ${omitted?.lines ?? "some"} lines, ${omitted?.bytes ?? "some"} bytes omitted${from} …]`;
  return `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${gap}\n${tail}`;
}

const LARGE_BYTES = 64 * 1024;

interface ListData {
  readonly entries: readonly { readonly uri: string; readonly kind: string; readonly size: number }[];
  readonly unreadable?: number | undefined;
}

export function listText({ entries, unreadable }: ListData, { path }: Reader): ActionText {
  const lines = entries.map(({ uri, kind, size }) => {
    if (kind === "directory") return `${path(uri)}/`;
    const mark = kind === "file" ? "" : `  (${kind})`;
    return `${path(uri)}${mark}${size >= LARGE_BYTES ? `  (${Math.round(size / 1024)} KiB)` : ""}`;
  });
  return {
    body: lines.join("\n") || "no entries",
    notes: [unreadable !== undefined && `${counted(unreadable, "folder")} could not be read`],
  };
}

interface SearchData {
  readonly matches: readonly {
    readonly uri: string;
    readonly range: Range;
    readonly text: string;
    readonly text_truncated?: true | undefined;
    readonly before?: readonly string[] | undefined;
    readonly after?: readonly string[] | undefined;
    readonly hash: string | null;
  }[];
  readonly count: number;
  readonly total: number | null;
  readonly left_out?: string | undefined;
  readonly missing_roots?: readonly string[] | undefined;
}

export function searchTextText(data: SearchData, reader: Reader): ActionText {
  const { matches, count, total } = data;
  const hasContext = matches.some(({ before, after }) => before || after);
  const blocks = matches.map((match) => {
    const { uri, range, text, before = [], after = [] } = match;
    const at = (line: number, mark: string) =>
      `${reader.path(uri)}${mark}${line + 1}${mark === ":" ? ": " : "- "}`;
    const own = text.replace(/\r?\n$/, "").split("\n");
    const first = range.start.line;
    return [
      ...before.map((line, n) => at(first - before.length + n, "-") + line),
      ...own.map((line, n) => at(first + n, ":") + line),
      ...after.map((line, n) => at(first + own.length + n, "-") + line),
    ].join("\n");
  });
  const files = new Set(matches.map(({ uri }) => uri));
  return {
    body: blocks.join(hasContext ? "\n--\n" : "\n") || "no matches",
    notes: [
      total !== null && total > count && `${count} of ${total} matches`,
      total === null && `${count} matches so far; not everything was searched`,
      matches.some(({ text_truncated }) => text_truncated) && "long lines are cut",
      ...notSearchedNotes(data),
    ],
    handles: { hash: files.size === 1 ? matches[0]?.hash : undefined },
  };
}

interface StatData {
  readonly uri: string;
  readonly kind: string;
  readonly size: number;
  readonly mode: string;
  readonly mtime: string;
  readonly target?: string | undefined;
  readonly outside?: true | undefined;
  readonly broken?: true | undefined;
  readonly hash?: string | null | undefined;
}

export function statText(data: StatData, { path }: Reader): ActionText {
  const { uri, kind, size, mode, mtime, target, outside, broken, hash } = data;
  const link = target !== undefined && `leads to ${path(target)}`;
  const facts = [kind, `${size} bytes`, `mode ${mode}`, `changed ${mtime}`, link];
  const trouble = [outside && "leads out of the workspace", broken && "its target does not exist"];
  return { body: `${path(uri)}: ${[...facts, ...trouble].filter(Boolean).join(", ")}`, handles: { hash } };
}

export const writeText = (
  { uri, hash, undo }: { uri: string; hash: string; undo: string },
  { path }: Reader,
): ActionText => ({
  body: `created ${path(uri)}`,
  handles: { hash, undo },
});

export const mkdirText = (
  { uri, created }: { uri: string; created: boolean },
  { path }: Reader,
): ActionText => ({
  body: created ? `created ${path(uri)}/` : `${path(uri)}/ already exists`,
});

export const rmText = (
  { uri, removed, undo }: { uri: string; removed: number; undo: string },
  { path }: Reader,
): ActionText => ({
  body: `removed ${path(uri)} (${counted(removed, "entry", "entries")})`,
  handles: { undo },
});

interface ChangedFile {
  readonly uri: string;
  readonly hash: string | null;
  readonly match: string;
  readonly hunks: readonly { readonly line: number; readonly added: number; readonly removed: number }[];
  readonly hunks_omitted?: number | undefined;
  readonly created?: true | undefined;
  readonly deleted?: true | undefined;
  readonly renamed_from?: string | undefined;
  readonly copied_from?: string | undefined;
}

interface PatchData {
  readonly files: readonly ChangedFile[];
  readonly undo: string | null;
  readonly diff?: string | undefined;
  readonly diff_truncated?: true | undefined;
  readonly diagnostics?:
    | readonly {
        readonly uri: string;
        readonly range: Range;
        readonly severity: string;
        readonly message: string;
      }[]
    | undefined;
  readonly diagnostics_note?: string | undefined;
}

export function applyPatchText(data: PatchData, reader: Reader): ActionText {
  const { files, undo, diff, diff_truncated, diagnostics } = data;
  const found = diagnostics?.map((one) => `${spotOf(one, reader)}: ${one.severity}: ${one.message}`) ?? [];
  const isDryRun = diff !== undefined;
  const [only, ...others] = files;
  const alone = only && others.length === 0;
  const lines = files.map(
    (file) => changedLine(file, reader, isDryRun) + (alone || !file.hash ? "" : `  ${file.hash}`),
  );
  return {
    body: [
      ...lines,
      ...(found.length > 0 ? ["New problems since this edit:", ...found] : []),
      ...(diagnostics?.length === 0 ? ["no new problems"] : []),
      ...(isDryRun ? [diff] : []),
    ].join("\n"),
    notes: [
      isDryRun && "dry run, nothing changed",
      diff_truncated && "the diff is cut",
      data.diagnostics_note,
    ],
    handles: { hash: alone && !isDryRun ? only.hash : undefined, undo },
  };
}

function changedLine(file: ChangedFile, { path }: Reader, isDryRun: boolean): string {
  const { uri, match, hunks, hunks_omitted, created, deleted, renamed_from, copied_from } = file;
  const verb = deleted ? "deleted" : created ? "created" : "changed";
  const sum = (name: "added" | "removed") => hunks.reduce((all, hunk) => all + hunk[name], 0);
  const from = renamed_from ?? copied_from;
  const facts = [
    from !== undefined && `${renamed_from ? "renamed" : "copied"} from ${path(from)}`,
    hunks.length > 0 && !hunks_omitted && `+${sum("added")} -${sum("removed")}`,
    !created && !deleted && hunks.length > 0 && `at line ${hunks.map(({ line }) => line + 1).join(", ")}`,
    match === "whitespace" && "matched with other whitespace",
  ].filter(Boolean);
  return `${isDryRun ? "would be " : ""}${verb} ${path(uri)}${facts.length > 0 ? `: ${facts.join(", ")}` : ""}`;
}

interface DiffData {
  readonly diff: string;
  readonly tail?: string | undefined;
  readonly omitted_bytes?: number | undefined;
  readonly ref?: string | undefined;
  readonly hash_a: string;
  readonly hash_b: string;
}

export function diffText({ diff, tail, omitted_bytes, ref, hash_a, hash_b }: DiffData): ActionText {
  if (diff === "") return { body: "no difference" };
  const body = tail === undefined ? diff : `${diff}[… ${omitted_bytes} bytes omitted …]\n${tail}`;
  return { body, handles: { from: hash_a, to: hash_b, ref } };
}
