import { splitNul } from "../files/nul-list.ts";
import type { Path } from "../path.ts";

export interface HeadState {
  /** null when HEAD is detached. */
  readonly branch: string | null;
  /** null when the branch has no commit yet. */
  readonly head: string | null;
  readonly upstream: string | null;
  /** Absent without an upstream, or when it no longer exists. */
  readonly ahead?: number;
  readonly behind?: number;
}

export type ChangeKind = "added" | "modified" | "deleted" | "renamed" | "copied" | "type_changed";

export interface Side {
  readonly id: string;
  readonly mode: string;
}

export interface Conflict {
  readonly kind:
    | "both_deleted"
    | "added_by_us"
    | "deleted_by_them"
    | "added_by_them"
    | "deleted_by_us"
    | "both_added"
    | "both_modified";
  /** null: not there on this side. */
  readonly base: Side | null;
  readonly ours: Side | null;
  readonly theirs: Side | null;
}

export interface StatusEntry {
  readonly path: Path;
  readonly kind: "changed" | "conflict" | "untracked" | "ignored";
  readonly staged?: ChangeKind;
  readonly unstaged?: ChangeKind;
  readonly renamedFrom?: Path;
  readonly conflict?: Conflict;
  /** It stands for everything inside. */
  readonly isFolder?: true;
  readonly submodule?: true;
}

/** Reads `git status --porcelain=v2 -z --branch`. Paths in it start at `top`. */
export function parseStatus(output: Buffer, top: Path): HeadState & { entries: StatusEntry[] } {
  const records = splitNul(output);
  const headers = new Map<string, string>();
  const entries: StatusEntry[] = [];
  const at = (name: Path): Path => `${top === "/" ? "" : top}/${name}`;
  for (let n = 0; n < records.length; n++) {
    const record = records[n]!;
    const [type = "", ...words] = record.split(" ");
    const rest = (skip: number) => words.slice(skip).join(" ");
    if (type === "#") headers.set(words[0] ?? "", rest(1));
    else if (type === "1") entries.push({ path: at(rest(7)), kind: "changed", ...changesOf(words) });
    else if (type === "2")
      entries.push({
        path: at(rest(8)),
        kind: "changed",
        ...changesOf(words),
        renamedFrom: at(records[++n] ?? ""),
      });
    else if (type === "u") entries.push({ path: at(rest(9)), kind: "conflict", conflict: conflictOf(words) });
    else if (type === "?" || type === "!") entries.push(unknownEntry(at(rest(0)), type));
  }
  return { ...toHeadState(headers), entries };
}

function toHeadState(headers: ReadonlyMap<string, string>): HeadState {
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get("branch.ab") ?? "") ?? [];
  const read = (name: string) => headers.get(name) ?? null;
  return {
    branch: read("branch.head") === "(detached)" ? null : read("branch.head"),
    head: read("branch.oid") === "(initial)" ? null : read("branch.oid"),
    upstream: read("branch.upstream"),
    ...(ahead !== undefined && { ahead: Number(ahead), behind: Number(behind) }),
  };
}

/** Git's letters for the kinds of changes. */
export const CHANGE_KINDS: Readonly<Record<string, ChangeKind>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
};

function changesOf([letters = "", submodule = ""]: readonly string[]) {
  const [staged, unstaged] = [CHANGE_KINDS[letters[0] ?? ""], CHANGE_KINDS[letters[1] ?? ""]];
  return {
    ...(staged && { staged }),
    ...(unstaged && { unstaged }),
    ...(submodule.startsWith("S") && { submodule: true as const }),
  };
}

const CONFLICTS: Readonly<Record<string, Conflict["kind"]>> = {
  DD: "both_deleted",
  AU: "added_by_us",
  UD: "deleted_by_them",
  UA: "added_by_them",
  DU: "deleted_by_us",
  AA: "both_added",
  UU: "both_modified",
};

function conflictOf(words: readonly string[]): Conflict {
  const [letters = "", , m1 = "", m2 = "", m3 = "", , h1 = "", h2 = "", h3 = ""] = words;
  const side = (mode: string, id: string): Side | null => (mode === "000000" ? null : { id, mode });
  return {
    kind: CONFLICTS[letters] ?? "both_modified",
    base: side(m1, h1),
    ours: side(m2, h2),
    theirs: side(m3, h3),
  };
}

function unknownEntry(path: Path, type: "?" | "!"): StatusEntry {
  const kind = type === "?" ? "untracked" : "ignored";
  return path.endsWith("/") ? { path: path.slice(0, -1), kind, isFolder: true } : { path, kind };
}
