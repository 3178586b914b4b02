import type { Path } from "../path.ts";
import { malformed } from "./change.ts";
import { parseQuotedName } from "./git-name.ts";

/** The names in a `---` and a `+++` line; undefined stands for /dev/null, a missing file. */
export interface NamePair {
  readonly old: Path | undefined;
  readonly new: Path | undefined;
}

export const isNamePair = (lines: readonly string[], at: number): boolean =>
  /^--- ./.test(lines[at] ?? "") && /^\+\+\+ ./.test(lines[at + 1] ?? "");

export function parseNamePair(lines: readonly string[], at: number): NamePair {
  return withoutPrefixes({ old: parseName(lines[at]!, at), new: parseName(lines[at + 1]!, at + 1) });
}

/** `diff -N` marks a missing file with the time 0. */
const EPOCH = /\t(?:1970-01-01|1969-12-31) /;

function parseName(line: string, at: number): Path | undefined {
  const rest = line.slice(4).replace(/\r$/, "");
  const name = rest.startsWith('"') ? parseQuotedName(rest)?.name : rest.replace(/\t.*$/, "");
  if (name === undefined) throw malformed(at, "the quoted name is damaged");
  return name === "/dev/null" || EPOCH.test(rest) ? undefined : name;
}

/** Removes a/ and b/, and the letter pairs that git uses for index, work tree, commit and object. */
export function withoutPrefixes(names: NamePair): NamePair {
  const old = names.old ?? "a/";
  const made = names.new ?? "b/";
  const usual = old.startsWith("a/") && made.startsWith("b/");
  const mnemonic =
    /^[ciow]\//.test(old) && /^[ciow]\//.test(made) && old[0] !== made[0] && old.slice(2) === made.slice(2);
  return usual || mnemonic ? { old: names.old?.slice(2), new: names.new?.slice(2) } : names;
}
