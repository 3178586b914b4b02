import { splitNul } from "../files/nul-list.ts";
import { type Path, pathToUri } from "../path.ts";
import type { Repository } from "./git.ts";
import { findOperation } from "./operation.ts";

export interface StatusOptions {
  readonly path?: Path;
  readonly ignored?: boolean;
  /** Whether each file in a new folder is listed, not just the folder. */
  readonly everyFile?: boolean;
}

export type Status = Awaited<ReturnType<typeof readStatus>>;
export type StatusEntry = ReturnType<typeof toEntry>;

/** Branch, operation in progress and changed files. */
export async function readStatus(repository: Repository, options: StatusOptions = {}) {
  const { path, ignored = false, everyFile = false } = options;
  const args = [
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--ahead-behind",
    "--find-renames",
    "--no-show-stash",
    `--untracked-files=${everyFile ? "all" : "normal"}`,
    // Looking into a submodule would start git there, under that repository's own config.
    "--ignore-submodules=dirty",
    ...(ignored ? ["--ignored=matching"] : []),
  ];
  const limited = path === undefined ? limitTo(repository) : ["--", repository.toName(path)];
  const { stdout } = await repository.run([...args, ...limited]);
  return { ...parseStatus(stdout, repository.top), operation: findOperation(repository) };
}

/** Files above the root do not belong to the workspace. */
const limitTo = ({ top, folder }: Repository): string[] => (top === folder ? [] : ["--", "."]);

/** Reads `git status --porcelain=v2 -z --branch`. Paths in it start at `top`. */
export function parseStatus(output: Buffer, top: Path) {
  const records = splitNul(output);
  const headers = new Map<string, string>();
  const entries: StatusEntry[] = [];
  for (let n = 0; n < records.length; n++) {
    const [type = "", ...words] = records[n]!.split(" ");
    if (type === "#") headers.set(words[0] ?? "", words.slice(1).join(" "));
    if (!isEntry(type)) continue;
    // The old name of a rename is the next record.
    entries.push(toEntry(top, type, words, type === "2" ? records[++n] : undefined));
  }
  return { ...toHeadState(headers), entries };
}

/** For each type of record: its subject, and the word at which the name starts. */
const ENTRIES = {
  1: { kind: "changed", nameAt: 7 },
  2: { kind: "changed", nameAt: 8 },
  u: { kind: "conflict", nameAt: 9 },
  "?": { kind: "untracked", nameAt: 0 },
  "!": { kind: "ignored", nameAt: 0 },
} as const;

const isEntry = (type: string): type is `${keyof typeof ENTRIES}` => Object.hasOwn(ENTRIES, type);

function toEntry(
  top: Path,
  type: `${keyof typeof ENTRIES}`,
  words: readonly string[],
  oldName: Path | undefined,
) {
  const toUri = (name: Path) => pathToUri(`${top === "/" ? "" : top}/${name}`);
  const { kind, nameAt } = ENTRIES[type];
  const name = words.slice(nameAt).join(" ");
  const [letters = "", submodule = ""] = kind === "changed" ? words : [];
  return {
    uri: toUri(name.replace(/\/$/, "")),
    kind,
    staged: CHANGE_KINDS[letters[0] ?? ""],
    unstaged: CHANGE_KINDS[letters[1] ?? ""],
    renamed_from: oldName === undefined ? undefined : toUri(oldName),
    conflict: kind === "conflict" ? conflictOf(words) : undefined,
    // It stands for everything inside.
    folder: name.endsWith("/") || undefined,
    submodule: submodule.startsWith("S") || undefined,
  };
}

function toHeadState(headers: ReadonlyMap<string, string>) {
  // Absent without an upstream, or when it no longer exists.
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get("branch.ab") ?? "") ?? [];
  const read = (name: string) => headers.get(name) ?? null;
  return {
    branch: read("branch.head") === "(detached)" ? null : read("branch.head"),
    head: read("branch.oid") === "(initial)" ? null : read("branch.oid"),
    upstream: read("branch.upstream"),
    ...(ahead !== undefined && { ahead: Number(ahead), behind: Number(behind) }),
  };
}

export type ChangeKind = "added" | "modified" | "deleted" | "renamed" | "copied" | "type_changed";

/** Git's letters for the kinds of changes. */
export const CHANGE_KINDS: Readonly<Record<string, ChangeKind>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
};

const CONFLICTS = {
  DD: "both_deleted",
  AU: "added_by_us",
  UD: "deleted_by_them",
  UA: "added_by_them",
  DU: "deleted_by_us",
  AA: "both_added",
  UU: "both_modified",
} as const;

function conflictOf(words: readonly string[]) {
  const [letters = "", , m1 = "", m2 = "", m3 = "", , h1 = "", h2 = "", h3 = ""] = words;
  const side = (mode: string, id: string) => (mode === "000000" ? null : { id, mode });
  return {
    // git knows no other pair of letters.
    kind: CONFLICTS[letters as keyof typeof CONFLICTS],
    base: side(m1, h1),
    ours: side(m2, h2),
    theirs: side(m3, h3),
  };
}
