import type { Path } from "@octant/host";
import { ECOSYSTEMS } from "../ecosystems/index.ts";
import type { FolderEntries } from "../project-files.ts";
import type { Ecosystem } from "./ecosystem.ts";
import { parentOf } from "./paths.ts";

/** The ecosystems with a marker among a folder's files, in table order. */
export function ecosystemsOf({ files, links }: Pick<FolderEntries, "files" | "links">): Ecosystem[] {
  const found = new Set<Ecosystem>();
  for (const name of [...files, ...links]) {
    const extension = name.slice(Math.max(0, name.lastIndexOf(".")));
    for (const marker of [name, `*${extension}`]) {
      for (const ecosystem of BY_MARKER.get(marker) ?? []) found.add(ecosystem);
    }
  }
  return found.size === 0 ? [] : ECOSYSTEMS.filter((ecosystem) => found.has(ecosystem));
}

const BY_MARKER: ReadonlyMap<string, readonly Ecosystem[]> = new Map(
  ECOSYSTEMS.flatMap(({ markers }) => markers).map((marker) => [
    marker,
    ECOSYSTEMS.filter(({ markers }) => markers.includes(marker)),
  ]),
);

/** The project of a folder: the nearest package or repository at or above it, otherwise the whole root. */
export function projectAround(entriesOf: (folder: Path) => FolderEntries, folder: Path): Path {
  for (let here = folder; here !== ""; here = parentOf(here)) {
    const entries = entriesOf(here);
    const isPackage = ecosystemsOf(entries).some(({ tasksOnly }) => !tasksOnly);
    if (isPackage || entries.folders.includes(".git") || entries.files.includes(".git")) return here;
  }
  return "";
}
