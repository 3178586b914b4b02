import type { Path } from "../path.ts";
import type { Repository } from "./git.ts";
import { splitNul } from "./nul-list.ts";
import { type ChangedFile, toChangedFile } from "./parse-diff.ts";

/** The differences between two trees, without the patch. */
export async function readDiffStat(
  repository: Repository,
  trees: readonly [string, string],
  signal?: AbortSignal,
): Promise<ChangedFile[]> {
  const relative = repository.top === repository.folder ? "--no-relative" : "--relative";
  const { stdout } = await repository.run([...STAT, relative, ...trees, "--", "."], { signal });
  return parseStat(stdout);
}

const STAT = [
  "diff",
  "--raw",
  "--numstat",
  "-z",
  "--find-renames",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=dirty",
  "-O/dev/null",
] as const;

/** First `:facts NUL name NUL` of each file, a rename with two names; then `added TAB removed TAB name NUL`. */
export function parseStat(output: Buffer): ChangedFile[] {
  const fields = splitNul(output);
  const entries: Omit<ChangedFile, "added" | "removed">[] = [];
  const counts = new Map<Path, Pick<ChangedFile, "added" | "removed">>();
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    if (field.startsWith(":")) {
      const isRename = /^:.* [RC]\d*$/.test(field);
      const [oldName, name] = isRename ? [fields[++at], fields[++at]!] : [undefined, fields[++at]!];
      entries.push(toChangedFile(field, name, oldName));
      continue;
    }
    const [added = "", removed = "", ...rest] = field.split("\t");
    const told = rest.join("\t");
    counts.set(told === "" ? (fields[at + 2] ?? "") : told, {
      added: toCount(added),
      removed: toCount(removed),
    });
    // A rename leaves the name empty and has both after it.
    if (told === "") at += 2;
  }
  return entries.map((entry) => ({
    ...entry,
    ...(counts.get(entry.name) ?? { added: null, removed: null }),
  }));
}

const toCount = (text: string) => (text === "-" ? null : Number(text));
