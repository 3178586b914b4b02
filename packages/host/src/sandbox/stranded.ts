import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { isWithin, type Path } from "../path.ts";
import type { Bind, Mount } from "./mount.ts";
import type { SandboxedCommand } from "./sandbox.ts";
import { lstatOf } from "./tree.ts";

/** An entry that a command wrote to the sandbox's own home or temp folder, where the person does not look for it. */
export interface Stranded {
  /** As the command knows it. */
  readonly path: Path;
  /** Where it really is. */
  readonly source: string;
}

export interface OwnFolders {
  readonly mounts: readonly Mount[];
  /** The folder of the sandbox's own files. */
  readonly scratch: string;
  readonly home: string;
}

const MAX_PATHS = 200;

/**
 * Returns a function that lists the entries written meanwhile. Only paths that the command's text names, and visible
 * entries of the home and of folders that it changes to, count: programs leave caches and temporary files there all the
 * time.
 */
export function watchStranded(
  { argv }: Pick<SandboxedCommand, "argv">,
  { mounts, scratch, home }: OwnFolders,
): () => readonly Stranded[] {
  const toEntry = (path: Path): Stranded[] => {
    const holder = mounts.findLast(({ at }) => isWithin(at, path));
    // A folder above a mount was made for it.
    if (!holder || !isOwn(holder, scratch) || mounts.some(({ at }) => isWithin(path, at))) return [];
    return [{ path, source: join(holder.source, path.slice(holder.at.length)) }];
  };
  const entriesOf = (folder: Path): Path[] => {
    const own = mounts.findLast(({ at }) => isWithin(at, folder));
    if (!own || !isOwn(own, scratch)) return [];
    return listVisible(join(own.source, folder.slice(own.at.length))).map((name) => join(folder, name));
  };
  const text = argv.join(" ");
  const folders = [home, ...foldersIn(text, home)];
  const list = () => [...new Set([...pathsIn(text, home), ...folders.flatMap(entriesOf)])].flatMap(toEntry);
  const before = new Map(list().map(({ path, source }) => [path, stampOf(source)]));
  return () =>
    list().filter(({ path, source }) => {
      const now = stampOf(source);
      return now !== undefined && now !== before.get(path);
    });
}

const isOwn = (mount: Mount, scratch: string): mount is Bind =>
  mount.kind === "write" && isWithin(scratch, mount.source);

const listVisible = (folder: string): string[] =>
  (attempt(() => readdirSync(folder)) ?? []).filter((name) => !name.startsWith(".")).slice(0, MAX_PATHS);

const PATH = /(?:~|\$HOME|\$\{HOME\}|\/)[^\s"'`;|&<>()*?=,:]*/;
const NAMED = new RegExp(`(?<![\\w.])${PATH.source}`, "g");
/** `cd /tmp`, `pushd /tmp`, `tar -C /tmp`. */
const ENTERED = new RegExp(`(?:\\b(?:cd|pushd)|\\s-C)\\s+["']?(${PATH.source})`, "g");

/** Paths in the home and in temp folders that a shell command names. */
const pathsIn = (text: string, home: string): Path[] =>
  toPaths(text.match(NAMED) ?? [], home).filter((path) => path !== home);

/** Folders in which a shell command does something. */
const foldersIn = (text: string, home: string): Path[] =>
  toPaths(
    text.matchAll(ENTERED).map(([, folder = ""]) => folder),
    home,
  );

const toPaths = (words: Iterable<string>, home: string): Path[] =>
  [...words]
    .map((word) => word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home).replace(/\/+$/, ""))
    .filter((path) => path.startsWith("/") && !path.split("/").includes(".."))
    .slice(0, MAX_PATHS);

const stampOf = (path: string): string | undefined => {
  const found = lstatOf(path);
  return found && `${found.mtimeMs} ${found.size} ${found.ino}`;
};
