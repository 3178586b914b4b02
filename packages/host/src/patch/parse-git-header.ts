import { ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { malformed } from "./change.ts";
import { parseQuotedName } from "./git-name.ts";
import type { Parsed } from "./parse-hunk.ts";
import { type NamePair, withoutPrefixes } from "./parse-names.ts";

/** What git says about a file before its hunks. */
export interface GitHeader extends NamePair {
  readonly kind?: "create" | "delete";
  /** The names of a rename or copy. */
  readonly from?: Path;
  readonly to?: Path;
  readonly copy?: true;
  /** The permission bits that the file gets. */
  readonly mode?: number;
  /** The full id of the old content. */
  readonly oldId?: string;
}

export const isGitHeader = (line: string): boolean => line.startsWith("diff --git ");

export function parseGitHeader(lines: readonly string[], start: number): Parsed<GitHeader> {
  let value: GitHeader = parseNames(lines[start]!.slice("diff --git ".length).replace(/\r$/, ""));
  let next = start + 1;
  for (; next < lines.length; next++) {
    const more = parseExtension(lines[next]!.replace(/\r$/, ""), next);
    if (!more) break;
    value = { ...value, ...more };
  }
  return { value, next };
}

/** Two names on one line, and a space may be part of them: then only that both are the same tells where one ends. */
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
      parseMode(value, at);
      return {};
    case "new mode":
      return { mode: parseMode(value, at) };
    case "new file mode":
      return { kind: "create", mode: parseMode(value, at) };
    case "deleted file mode":
      parseMode(value, at);
      return { kind: "delete" };
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
function parseName(text: string, at: number): Path {
  const name = text.startsWith('"') ? parseQuotedName(text)?.name : text;
  if (name === undefined) throw malformed(at, "the quoted name is damaged");
  return name;
}

function parseIndex(text: string, at: number): Partial<GitHeader> {
  const mode = / (\d{6})$/.exec(text)?.[1];
  if (mode) parseMode(mode, at);
  const id = /^([0-9a-f]{40}|[0-9a-f]{64})\.\./.exec(text)?.[1];
  return id === undefined || /^0+$/.test(id) ? {} : { oldId: id };
}

const KINDS: Readonly<Record<string, string>> = { "120": "a symbolic link", "160": "a submodule" };

function parseMode(text: string, at: number): number {
  const mode = /^(\d{3})([0-7]{3})$/.exec(text.trim());
  if (mode?.[1] === "100") return Number.parseInt(mode[2]!, 8);
  const what = mode && KINDS[mode[1]!];
  if (!what) throw malformed(at, "a file's mode is 100644 or 100755");
  const how = "vcs.apply takes such a patch; fs.apply_patch changes plain files only";
  throw new ToolError("UNSUPPORTED", `line ${at + 1} of the patch changes ${what}; ${how}`, { what, how });
}
