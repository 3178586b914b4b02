import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { attempt, ToolError } from "@octant/core";
import { z } from "zod";
import type { Denials } from "./denials.ts";
import { errnoOf } from "./errno.ts";
import { inodeOf, linkedFilesIn } from "./hard-links.ts";
import { fromNative, isWithin, type Path, pathToUri, toNative, uriToPath } from "./path.ts";
import { entryError, hasCode, toToolError } from "./system-error.ts";

/**
 * Something that was opened and then verified to be inside the workspace. It is pinned: swapping a link afterwards
 * changes nothing.
 */
export interface Pinned extends Disposable {
  readonly fd: number;
  /** Where it really is. */
  readonly path: Path;
  readonly stat: Stats;
}

export interface PinnedFolder extends Pinned {
  /** The path of an entry, to be used in a system call: it starts at the open folder, not at the file system's root. */
  at(name: Path): string | Buffer;
}

export const FileKind = z.enum(["file", "directory", "symlink", "fifo", "socket", "device"]);
export type FileKind = z.output<typeof FileKind>;

/** Commands cannot link to a hidden file, so its names rarely change; many files of a store have several names. */
const KNOWN_MS = 1_000;

const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
// Flags that Node does not name. Linux: pin a location without opening it. macOS: open a link itself.
const PLACE = process.platform === "linux" ? 0o10000000 : READ;
const LINK = process.platform === "darwin" ? 0x200000 : constants.O_NOFOLLOW;
const FOLDER = PLACE | constants.O_DIRECTORY;
const READABLE_FOLDER = READ | constants.O_DIRECTORY;

/**
 * With descriptor paths (Linux) a path starts at an open folder and a descriptor reveals its real location. Without
 * them both are looked up by name, so that two well-timed swaps of links could deceive the check.
 */
const hasDescriptorPaths = () => process.platform === "linux" && existsSync("/proc/self/fd");

export type Confinement = ReturnType<typeof createConfinement>;

const NOTHING_DENIED = {
  checkFile: () => {},
  fileDenied: () => undefined,
  isRestricted: () => false,
  without: <T>(run: () => T) => run(),
};

/** The folders that may be touched. Whatever is opened here is checked after it was opened, never before. */
export function createConfinement(
  folders: readonly string[],
  descriptorPaths = hasDescriptorPaths(),
  denials: Pick<Denials, "checkFile" | "fileDenied" | "isRestricted" | "without"> = NOTHING_DENIED,
) {
  const aliases = folders.map((folder) => {
    const given = uriToPath(folder, fromNative(Buffer.from(process.cwd())));
    return { given, real: realFolder(given) };
  });
  const roots: readonly Path[] = [...new Set(aliases.map(({ real }) => real))];
  // Longest first, so that a root inside another root's alias keeps its own name.
  aliases.sort((a, b) => b.given.length - a.given.length);
  const [first] = roots;
  if (first === undefined) throw new TypeError("a workspace has at least one root");

  const excluded: Path[] = [];
  let inside: readonly Path[] = roots;
  const hidden: Path[] = [];
  /** A folder of the workspace that is itself in a hidden place is not hidden. */
  const hidesName = (path: Path): boolean => {
    const place = hidden.find((one) => isWithin(one, path));
    return place !== undefined && !inside.some((one) => isWithin(place, one) && isWithin(one, path));
  };
  /** A hard link is another name of the same file. */
  const hidesFile = (stat: Stats | undefined): boolean =>
    hidden.length > 0 && stat?.isFile() === true && stat.nlink > 1 && hiddenInodes().has(inodeOf(stat));
  let known = { inodes: new Set<string>(), until: 0 };
  const hiddenInodes = (): ReadonlySet<string> => {
    const now = performance.now();
    if (now < known.until) return known.inodes;
    const linked = hidden.flatMap((place) => [...linkedFilesIn(place)]);
    const names = linked.filter((one) => one !== "too many").filter(({ path }) => hidesName(path));
    known = { inodes: new Set(names.map(({ inode }) => inode)), until: performance.now() + KNOWN_MS };
    return known.inodes;
  };
  const isInside = (path: Path) =>
    inside.some((folder) => isWithin(folder, path)) && !excluded.some((folder) => isWithin(folder, path));

  const check = (path: Path, stat?: Stats): void => {
    if (isInside(path) && !hidesName(path) && !hidesFile(stat)) return;
    const uris = inside.map(pathToUri);
    const message = isInside(path)
      ? `${pathToUri(path)} is among the secrets of this user, which are hidden from all tools`
      : `the path leads outside the workspace, which has ${uris.join(", ")}`;
    throw new ToolError("OUTSIDE_WORKSPACE", message, { roots: uris });
  };

  const pin = (path: string | Buffer, flags: number, shown: Path): Pinned => {
    let fd: number | undefined;
    try {
      fd = openSync(path, flags);
      const stat = fstatSync(fd);
      const real = descriptorPaths
        ? fromNative(readlinkSync(`/proc/self/fd/${fd}`, { encoding: "buffer" }))
        : samePlace(path, stat);
      if (stat.nlink === 0) throw entryError("NOT_FOUND", shown, "was removed");
      check(real, stat);
      denials.checkFile(real);
      return pinned(fd, real, stat);
    } catch (cause) {
      if (fd !== undefined) closeSync(fd);
      throw toToolError(cause, pathToUri(shown));
    }
  };

  const openFolder = (path: Path, { readable } = { readable: false }): PinnedFolder => {
    try {
      return asFolder(pin(toNative(path), readable ? READABLE_FOLDER : FOLDER, path));
    } catch (cause) {
      throw refineFolderError(cause, path);
    }
  };
  const asFolder = (folder: Pinned): PinnedFolder => ({
    ...folder,
    at: (name) => toNative(`${descriptorPaths ? `/proc/self/fd/${folder.fd}` : folder.path}/${name}`),
  });

  const makeFolder = (path: Path, made: Path[] = []): PinnedFolder => {
    try {
      return openFolder(path);
    } catch (cause) {
      if (!hasCode(cause, "NOT_FOUND") || roots.includes(path)) throw cause;
    }
    const { parent, name } = splitPath(path);
    using folder = makeFolder(parent, made);
    try {
      mkdirSync(folder.at(name));
      made.push(`${folder.path}/${name}`);
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST") throw toToolError(cause, pathToUri(path));
    }
    return asFolder(pin(folder.at(name), FOLDER | constants.O_NOFOLLOW, path));
  };

  return {
    /** Real paths; the first is where relative paths start. */
    roots,
    /** Makes a folder inside, even one that does not exist yet, count as outside: Octant's own files are off limits. */
    exclude(folder: Path): void {
      excluded.push(realOrFuture(folder));
    },
    /** Hides places in a root, such as a home's keys, even ones that do not exist yet. */
    hide(places: readonly Path[]): void {
      const known = new Map<Path, Path>();
      const real = places.map((place) => realOrFuture(place, known));
      hidden.push(...[...places, ...real].filter((place) => inside.some((one) => isWithin(one, place))));
    },
    /** For a program that reads the workspace by itself: whether its results about this real path are dropped. */
    hides: (path: Path): boolean => hidesName(path) || (hidden.length > 0 && hidesFile(lstatIfThere(path))),
    /** Lets these folders count as inside too; from then on, with `only`, nothing else does. */
    allow(folders: readonly Path[], only: boolean): void {
      inside = [...(only ? [] : inside), ...folders.map(realFolder)];
    },
    isRestricted: denials.isRestricted,
    /** Why rules keep the running call from this file or folder; undefined when none does. */
    denied: denials.fileDenied,
    /** PERMISSION_DENIED then. Files are checked when they are opened; this is for others, such as new ones. */
    checkDenied: denials.checkFile,
    /** Lifts the rules for work on behalf of all calls. */
    withoutDenials: denials.without,
    /** The default location: the first root, or the first allowed folder. */
    get start(): Path {
      return inside[0] ?? first;
    },
    /** The path of a caller's uri. It may still lead outside through a link; opening detects that. */
    toPath(uri: string): Path {
      const path = uriToPath(uri, first);
      const alias = aliases.find(({ given }) => isWithin(given, path));
      const real = alias ? alias.real + path.slice(alias.given === "/" ? 0 : alias.given.length) : path;
      check(real);
      return real.startsWith("//") ? real.slice(1) : real;
    },
    /** Opens a regular file for reading; links are followed as long as they stay inside. */
    openFile(path: Path): Pinned {
      // Nothing outside is ever opened for reading, not even for a moment: closing it would drop this process's own locks.
      using place = pin(toNative(path), PLACE, path);
      const kind = kindOf(place.stat);
      if (kind !== "file") throw entryError("NOT_A_FILE", path, `is a ${kind}, not a file`, { kind });
      if (!descriptorPaths) return pin(toNative(place.path), READ | constants.O_NOFOLLOW, path);
      try {
        // Opened through the pinned place: it is the file that was checked, whatever the path means by now.
        return pinned(openSync(`/proc/self/fd/${place.fd}`, READ), place.path, place.stat);
      } catch (cause) {
        throw toToolError(cause, pathToUri(path));
      }
    },
    /** Opens a folder; links are followed as long as they stay inside. A readable one can be synced by its descriptor. */
    openFolder,
    /** Opens the entry at the path itself, of any kind and without following a last link. For inspection only. */
    openEntry(path: Path): Pinned {
      if (roots.includes(path)) return openFolder(path);
      const { parent, name } = splitPath(path);
      using folder = openFolder(parent);
      return pin(folder.at(name), PLACE | LINK, path);
    },
    /** Opens a folder, creating its missing parts. `made` gets each created folder. */
    makeFolder,
  };
}

/** The parent folder of a path, and its name there. */
export function splitPath(path: Path): { parent: Path; name: Path } {
  const cut = path.lastIndexOf("/");
  return { parent: path.slice(0, cut) || "/", name: path.slice(cut + 1) };
}

export function kindOf(entry: Stats | Dirent): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  return entry.isSocket() ? "socket" : "device";
}

const pinned = (fd: number, path: Path, stat: Stats): Pinned => ({
  fd,
  path,
  stat,
  [Symbol.dispose]: () => closeSync(fd),
});

/** The real path of the opened entry; refused when the path leads elsewhere by now. */
function samePlace(path: string | Buffer, opened: Stats): Path {
  const real = opened.isSymbolicLink() ? fromNative(Buffer.from(path)) : realPath(path);
  const now = lstatSync(toNative(real));
  if (now.dev === opened.dev && now.ino === opened.ino) return real;
  const uri = pathToUri(real);
  throw new ToolError("NOT_FOUND", "the file was replaced while it was opened; try again", { uri });
}

const realPath = (path: string | Buffer): Path =>
  fromNative(realpathSync.native(path, { encoding: "buffer" }));

/** "Missing" and "not a folder" are the same system error; the caller should know which. */
function refineFolderError(cause: unknown, path: Path): unknown {
  if (!hasCode(cause, "NOT_FOUND")) return cause;
  try {
    if (errnoOf(cause.cause) !== "ENOTDIR" || lstatSync(toNative(path)).isDirectory()) return cause;
  } catch {
    return cause;
  }
  return entryError("NOT_A_DIRECTORY", path, "is not a folder");
}

const lstatIfThere = (path: Path): Stats | undefined =>
  attempt(() => lstatSync(toNative(path), { throwIfNoEntry: false }));

/**
 * Where a folder is, or will be once it is created; by its name where this user may not look, as in the home of another.
 * `known` saves the questions about folders that several have in common.
 */
function realOrFuture(folder: Path, known = new Map<Path, Path>()): Path {
  const found = known.get(folder) ?? realIfThere(folder);
  if (found !== undefined) known.set(folder, found);
  if (found !== undefined || folder === "/") return found ?? "/";
  const { parent, name } = splitPath(folder);
  const above = realOrFuture(parent, known);
  return `${above === "/" ? "" : above}/${name}`;
}

/** Asks first whether there is anything, since an error takes ten times as long as the answer. */
const realIfThere = (path: Path): Path | undefined =>
  lstatIfThere(path) && attempt(() => realPath(toNative(path)));

function realFolder(given: Path): Path {
  const uri = pathToUri(given);
  try {
    const real = realPath(toNative(given));
    if (lstatSync(toNative(real)).isDirectory()) return real;
  } catch (cause) {
    throw toToolError(cause, uri);
  }
  throw new ToolError("NOT_A_DIRECTORY", `the root ${uri} is not a folder`, { uri });
}
