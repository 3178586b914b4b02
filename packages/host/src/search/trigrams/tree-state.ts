import { type Dirent, lstatSync, readdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { attempt } from "@octant/core";
import { byteStringToPath, pathToByteString } from "../../files/byte-string.ts";
import {
  enterFolder,
  excludeFile,
  globalIgnoreFiles,
  loadGlobalRules,
  rulesAbove,
} from "../../files/ignore-files.ts";
import { type IgnoreRules, isIgnored } from "../../files/ignore-rules.ts";
import { isWithin, type Path, toNative } from "../../path.ts";
import { type FileState, isSame, isSettled, stateOf } from "./file-state.ts";

export type TreeState = NonNullable<ReturnType<typeof takeTreeState>>;

interface Folder {
  readonly path: Path;
  readonly native: string | Buffer;
  readonly dev: number;
  readonly ino: number;
  /** Undefined while it may change without a trace. */
  readonly state: FileState | undefined;
  /** Its folders, and the names in it that decide over others. */
  readonly shape: string;
}

/**
 * The state that determines which files ripgrep finds below a folder: the folders it enters, and the ignore files.
 * Taken before files are listed, it shows what changed since. Undefined where stamps of files cannot be relied on.
 */
export function takeTreeState(root: Path, env: NodeJS.ProcessEnv) {
  if (!keepsStamps(root)) return undefined;
  const folders: Folder[] = [];
  const deciding: { readonly path: string | Buffer; readonly state: string | undefined }[] = [];
  /** Before it is read, here or by ripgrep. */
  const note = (path: string | Buffer) => deciding.push({ path, state: describe(path, Date.now()) });

  const above = namesOf(root);
  noteAbove(above, note);
  for (const file of globalIgnoreFiles(env)) note(file);

  let isOneDevice = true;
  const visit = (path: Path, names: readonly string[], outer: IgnoreRules): void => {
    const native = toNative(path);
    const now = Date.now();
    const stat = lstatSync(native, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return;
    if (folders.length > 0 && stat.dev !== folders[0]?.dev) isOneDevice = false;
    const entries = entriesOf(native);
    const state = isSettled(stat, now) ? stateOf(stat) : undefined;
    folders.push({ path, native, dev: stat.dev, ino: stat.ino, state, shape: shapeOf(entries) });
    const at = (name: string) => toNative(`${path === "/" ? "" : path}/${byteStringToPath(name)}`);
    const here = new Set(entries.map(({ name }) => name));
    for (const name of IGNORE_FILES) if (here.has(name)) note(at(name));
    if (here.has(".git")) for (const file of [at(".git"), excludeFile(at)]) note(file);
    const rules = enterFolder(outer, names.length, (name) => here.has(name), at);
    for (const entry of entries) {
      if (!entry.isDirectory() || entry.name === ".git") continue;
      const inside = [...names, entry.name];
      if (!isIgnored(rules, inside, true))
        visit(`${path === "/" ? "" : path}/${byteStringToPath(entry.name)}`, inside, rules);
    }
  };
  visit(root, above, rulesAbove(above, loadGlobalRules(env, above.length)));
  if (!isOneDevice) return undefined;

  return {
    folders: folders.map(({ path }) => path),
    /**
     * The folders below the scope in which files came or went since; undefined when more than that may have changed:
     * folders, ignore files or repositories.
     */
    changedFolders(scope: Path): Path[] | undefined {
      if (deciding.some(({ path, state }) => state === undefined || describe(path) !== state))
        return undefined;
      const changed: Path[] = [];
      for (const folder of folders) {
        const isInside = isWithin(scope, folder.path);
        if (!isInside && !isWithin(folder.path, scope)) continue;
        const stat = lstatSync(folder.native, { throwIfNoEntry: false });
        if (stat && folder.state && stat.dev === folder.dev && isSame(stat, folder.state)) continue;
        if (stat?.ino !== folder.ino || stat.dev !== folder.dev) return undefined;
        if (shapeOf(entriesOf(folder.native)) !== folder.shape) return undefined;
        if (isInside) changed.push(folder.path);
      }
      return changed;
    },
  };
}

const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"] as const;
const DECIDING: ReadonlySet<string> = new Set([...IGNORE_FILES, ".git", ".jj"]);

/** Everything in the folders above the root that reaches down to it. */
function noteAbove(names: readonly string[], note: (path: string | Buffer) => void): void {
  for (let depth = 0; depth < names.length; depth++) {
    const folder = names
      .slice(0, depth)
      .map((name) => `/${byteStringToPath(name)}`)
      .join("");
    const at = (name: string) => toNative(`${folder}/${name}`);
    for (const name of DECIDING) note(at(name));
    note(excludeFile(at));
  }
}

/**
 * A folder by its existence: the content of `.git` changes all the time. Undefined for a file that may change
 * after `now` without a trace.
 */
function describe(path: string | Buffer, now = Number.POSITIVE_INFINITY): string | undefined {
  const stat = statIfThere(path);
  if (!stat) return "";
  if (stat.isDirectory()) return "folder";
  if (!isSettled(stat, now)) return undefined;
  const { ino, size, mtimeMs, ctimeMs } = stat;
  return [ino, size, mtimeMs, ctimeMs].join(" ");
}

/** The target of a link. undefined also when a file replaces a parent folder, or access is denied. */
const statIfThere = (path: string | Buffer): Stats | undefined =>
  attempt(() => statSync(path, { throwIfNoEntry: false }));

function entriesOf(native: string | Buffer): Dirent[] {
  try {
    return readdirSync(native, { withFileTypes: true, encoding: "latin1" });
  } catch {
    // ripgrep cannot read it either, or it has just disappeared, which shows in the folder above.
    return [];
  }
}

const shapeOf = (entries: readonly Dirent[]): string =>
  entries
    .filter((entry) => entry.isDirectory() || DECIDING.has(entry.name))
    .map(({ name }) => name)
    .sort()
    .join("/");

const namesOf = (path: Path): string[] =>
  path
    .split("/")
    .filter((name) => name !== "")
    .map(pathToByteString);

/** Local file systems of Linux that stamp every change: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, bcachefs. */
const STAMPING: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/** Whether a change of a file below the folder always shows in its stamps. */
export const keepsStamps = (root: Path): boolean =>
  attempt(() => process.platform === "linux" && STAMPING.has(statfsSync(toNative(root)).type >>> 0)) ?? false;
