import { opendirSync } from "node:fs";
import { ToolError } from "@octant/core";
import { type Confinement, fromNative, type Path, pathToUri } from "@octant/host";
import { readBytes } from "../read-bytes.ts";

/** The read-only part of the workspace that ws needs. */
export type Looking = Pick<Confinement, "roots" | "toPath" | "openFile" | "openFolder" | "openEntry">;

export interface FolderEntries {
  readonly files: readonly Path[];
  readonly folders: readonly Path[];
  /** Not followed here; `text` and `isFile` follow a link as long as it stays inside. */
  readonly links: readonly Path[];
  /** Whether the folder has more entries than were read. */
  readonly truncated: boolean;
}

/** A view of one root. Paths are relative to the root; "" is the root itself. */
export type ProjectFiles = ReturnType<typeof createProjectFiles>;

const MAX_TEXT_BYTES = 262_144;
const MAX_FOLDER_ENTRIES = 5_000;
const NOTHING: FolderEntries = { files: [], folders: [], links: [], truncated: false };

/** Created per call; caches its listings. */
export function createProjectFiles(confinement: Looking, root: Path) {
  const absolute = (path: Path) => (path === "" ? root : `${root === "/" ? "" : root}/${path}`);
  const listed = new Map<Path, FolderEntries>();
  const problems: { readonly path: Path; readonly message: string }[] = [];
  /** Records that a file exists but is invalid. */
  const report = (path: Path, message: string) => void problems.push({ path, message });

  return {
    root,
    absolute,
    /** A folder's entries, sorted; none when it cannot be read. */
    entries(folder: Path): FolderEntries {
      let entries = listed.get(folder);
      if (!entries) {
        entries = whenReadable(() => readFolder(confinement, absolute(folder))) ?? NOTHING;
        listed.set(folder, entries);
      }
      return entries;
    },
    /** The text of a file; undefined when it is missing, unreadable, or too large, which is reported. */
    text: (path: Path) =>
      whenReadable(() => {
        using file = confinement.openFile(absolute(path));
        if (file.stat.size > MAX_TEXT_BYTES) {
          report(path, `not read: larger than ${MAX_TEXT_BYTES} bytes`);
          return undefined;
        }
        const text = readBytes(file.fd, file.stat.size).toString();
        return text.replace(/^\uFEFF/, "");
      }),
    isFile: (path: Path) =>
      whenReadable(() => {
        using file = confinement.openFile(absolute(path));
        return file.stat.isFile();
      }) ?? false,
    uri: (path: Path) => pathToUri(absolute(path)),
    report,
    problems,
  };
}

/** A file that is missing, forbidden or outside is not a failure: the project is described by its readable files. */
export function whenReadable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof ToolError || isSystemError(error)) return undefined;
    throw error;
  }
}

const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

function readFolder(confinement: Looking, path: Path): FolderEntries {
  using folder = confinement.openFolder(path);
  // Node accepts the encoding "buffer" but its types do not; without it names that are not UTF-8 would be lost.
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: 256 };
  using directory = opendirSync(folder.at(""), options);
  const files: Path[] = [];
  const folders: Path[] = [];
  const links: Path[] = [];
  let count = 0;
  for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
    if (++count > MAX_FOLDER_ENTRIES) break;
    const name = fromNative(Buffer.from(entry.name));
    if (entry.isDirectory()) folders.push(name);
    else if (entry.isFile()) files.push(name);
    else if (entry.isSymbolicLink()) links.push(name);
  }
  for (const list of [files, folders, links]) list.sort();
  return { files, folders, links, truncated: count > MAX_FOLDER_ENTRIES };
}
