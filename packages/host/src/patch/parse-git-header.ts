import type { Path } from "../path.ts";
import { type EntryType, malformed } from "./change.ts";
import { parseQuotedName } from "./git-name.ts";
import type { PatchLines } from "./parse-hunk.ts";

/** The names in a `---` and a `+++` line; undefined stands for /dev/null, a missing file. */
export interface NamePair {
  readonly old: Path | undefined;
  readonly new: Path | undefined;
}

/** Git's header of a file before its hunks. */
export interface GitHeader extends NamePair {
  readonly kind?: "create" | "delete";
  /** The names of a rename or copy. */
  readonly from?: Path;
  readonly to?: Path;
  readonly copy?: true;
  /** According to its modes. */
  readonly type?: EntryType;
  /** The new permission bits of the file. */
  readonly mode?: number;
  /** The full id of the old content. */
  readonly oldId?: string;
}

export const isGitHeader = (line: string): boolean => line.startsWith("diff --git ");

export function parseGitHeader(patch: PatchLines): GitHeader {
  let header: GitHeader = parseNames(patch.line.slice("diff --git ".length).replace(/\r$/, ""));
  for (patch.at++; !patch.isDone; patch.at++) {
    const more = parseExtension(patch.line.replace(/\r$/, ""), patch.at);
    if (!more) break;
    if (header.type && more.type && header.type !== more.type)
      throw malformed(patch.at, "a link or submodule that becomes a file is a delete and a create");
    header = { ...header, ...more };
  }
  return header;
}

/** Two names on one line may contain spaces: they can be separated only when both are equal. */
function parseNames(text: string): NamePair {
  const unknown = { old: undefined, new: undefined };
  const first = parseQuotedName(text);
  if (first) {
    const rest = text.slice(first.length + 1);
    return withoutPrefixes({ old: first.name, new: parseQuotedName(rest)?.name ?? rest });
  }
  const quoted = text.indexOf(' "');
  if (quoted > 0) {
    const second = parseQuotedName(text.slice(quoted + 1));
    return second ? withoutPrefixes({ old: text.slice(0, quoted), new: second.name }) : unknown;
  }
  const middle = (text.length - 1) / 2;
  const names = { old: text.slice(0, middle), new: text.slice(middle + 1) };
  const plain = withoutPrefixes(names);
  return text[middle] === " " && plain.old === plain.new ? plain : unknown;
}

function parseExtension(line: string, at: number): Partial<GitHeader> | undefined {
  const [, key, value = ""] =
    /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to|similarity index|dissimilarity index|index) (.+)$/.exec(
      line,
    ) ?? [];
  switch (key) {
    case "old mode":
      return { type: parseMode(value, at).type };
    case "new mode":
      return parseMode(value, at);
    case "new file mode":
      return { kind: "create", ...parseMode(value, at) };
    case "deleted file mode":
      return { kind: "delete", type: parseMode(value, at).type };
    case "rename from":
      return { from: parseName(value, at) };
    case "copy from":
      return { from: parseName(value, at), copy: true };
    case "rename to":
    case "copy to":
      return { to: parseName(value, at) };
    case "index":
      return parseIndex(value, at);
    default:
      return key === undefined ? undefined : {};
  }
}

/** git quotes these names without a prefix. */
const parseName = (text: string, at: number): Path => unquoted(text, at) ?? text;

/** The name in quotes at the start; undefined when there are no quotes. */
function unquoted(text: string, at: number): Path | undefined {
  if (!text.startsWith('"')) return undefined;
  const quoted = parseQuotedName(text);
  if (!quoted) throw malformed(at, "the quoted name is damaged");
  return quoted.name;
}

function parseIndex(text: string, at: number): Partial<GitHeader> {
  const mode = / (\d{6})$/.exec(text)?.[1];
  const id = /^([0-9a-f]{40}|[0-9a-f]{64})\.\./.exec(text)?.[1];
  return {
    ...(mode && { type: parseMode(mode, at).type }),
    ...(id !== undefined && !/^0+$/.test(id) && { oldId: id }),
  };
}

function parseMode(text: string, at: number): { readonly type: EntryType; readonly mode?: number } {
  const mode = text.trim();
  if (mode === "120000") return { type: "link" };
  if (mode === "160000") return { type: "submodule" };
  const bits = /^100([0-7]{3})$/.exec(mode)?.[1];
  if (bits) return { type: "file", mode: Number.parseInt(bits, 8) };
  throw malformed(at, "a mode is 100644, 100755, 120000 (a link) or 160000 (a submodule)");
}

export const isNamePair = (lines: readonly string[], at: number): boolean =>
  /^--- ./.test(lines[at] ?? "") && /^\+\+\+ ./.test(lines[at + 1] ?? "");

export function parseNamePair(lines: readonly string[], at: number): NamePair {
  return withoutPrefixes({ old: parseNameLine(lines[at]!, at), new: parseNameLine(lines[at + 1]!, at + 1) });
}

/** `diff -N` marks a missing file with the time 0. */
const EPOCH = /\t(?:1970-01-01|1969-12-31) /;

function parseNameLine(line: string, at: number): Path | undefined {
  const rest = line.slice(4).replace(/\r$/, "");
  const name = unquoted(rest, at) ?? rest.replace(/\t.*$/, "");
  return name === "/dev/null" || EPOCH.test(rest) ? undefined : name;
}

/** Removes a/ and b/, and the letter pairs that git uses for index, work tree, commit and object. */
function withoutPrefixes(names: NamePair): NamePair {
  const old = names.old ?? "a/";
  const made = names.new ?? "b/";
  const usual = old.startsWith("a/") && made.startsWith("b/");
  const mnemonic =
    /^[ciow]\//.test(old) && /^[ciow]\//.test(made) && old[0] !== made[0] && old.slice(2) === made.slice(2);
  return usual || mnemonic ? { old: names.old?.slice(2), new: names.new?.slice(2) } : names;
}
