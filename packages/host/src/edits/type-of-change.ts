import type { Confinement } from "../confinement.ts";
import type { EntryType, FileChange } from "../patch/index.ts";
import type { Path } from "../path.ts";
import { kindAt, namesIn } from "./existing-entry.ts";

/** The kind of entry a change is about. A pure rename does not name it, so the current entry decides. */
export function typeOf(confinement: Confinement, change: FileChange, path: Path): EntryType {
  if (change.type !== undefined) return change.type;
  if (!isBareRename(change)) return "file";
  const kind = kindAt(confinement, path);
  if (kind === "directory" && looksLikeSubmodule(confinement, path)) return "submodule";
  return kind === "symlink" ? "link" : "file";
}

const isBareRename = ({ edits, ...change }: FileChange): boolean =>
  change.kind === "update" &&
  change.newPath !== undefined &&
  edits.form === "hunks" &&
  edits.hunks.length === 0;

/** One that was checked out has its repository, and one that was not is empty. */
function looksLikeSubmodule(confinement: Confinement, path: Path): boolean {
  const names = namesIn(confinement, path);
  return names.length === 0 || names.includes(".git");
}
