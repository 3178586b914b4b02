import type { FolderEntry } from "../../data/tool-data.ts";

/** A visible line of the tree. */
export interface TreeRow {
  /** Relative to the root; empty for the root itself. */
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly kind: FolderEntry["kind"];
  readonly isOpen: boolean;
}

/** Folders first, then by name, each with the entries of its open folders below it. */
export function toRows(
  folders: ReadonlyMap<string, readonly FolderEntry[]>,
  open: ReadonlySet<string>,
  toRelative: (uri: string) => string,
  path = "",
  depth = 0,
): readonly TreeRow[] {
  const entries = [...(folders.get(path) ?? [])].map((entry) => ({ ...entry, path: toRelative(entry.uri) }));
  const byName = new Intl.Collator("en", { numeric: true }).compare;
  entries.sort(
    (a, b) => Number(b.kind === "directory") - Number(a.kind === "directory") || byName(a.path, b.path),
  );
  return entries.flatMap((entry): readonly TreeRow[] => {
    const isOpen = entry.kind === "directory" && open.has(entry.path);
    const row = {
      path: entry.path,
      name: entry.path.split("/").at(-1) ?? entry.path,
      depth,
      kind: entry.kind,
      isOpen,
    };
    return isOpen ? [row, ...toRows(folders, open, toRelative, entry.path, depth + 1)] : [row];
  });
}
