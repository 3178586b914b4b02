import { type Dirent, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { type Confinement, type FileKind, kindOf, type PinnedFolder } from "../confinement.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { hasCode, toToolError } from "../system-error.ts";
import { byteStringToPath, pathToByteString } from "./byte-string.ts";
import { enterFolder, loadGlobalRules, rulesAbove } from "./ignore-files.ts";
import { type IgnoreRules, isIgnored } from "./ignore-rules.ts";
import { createPacer } from "./pacer.ts";

export interface WalkOptions {
  /** Used to find the user's global ignore file. */
  readonly env: NodeJS.ProcessEnv;
  readonly folder: Path;
  readonly includeIgnored: boolean;
  /** Continue after this path, relative to the folder. */
  readonly after?: Path | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WalkEntry {
  readonly parent: PinnedFolder;
  /** Byte strings: the names that lead to it from the folder where the walk began, its own the last. Valid during the call. */
  readonly names: readonly string[];
  readonly kind: FileKind;
}

export interface Visitor {
  /** Receives every entry; returning false ends the walk. */
  list(entry: WalkEntry): boolean;
  /** Asked for every folder whether to go into it. */
  enters(entry: WalkEntry): boolean;
  /** Receives every entry that the walk passes over; an unreadable folder was listed before. */
  omits?(entry: WalkEntry, why: "ignored" | "repository" | "unreadable"): void;
}

/** A folder whose own record is this big has thousands of entries; they are read without blocking other calls. */
const BIG_FOLDER_BYTES = 128 * 1024;

/**
 * Walks a tree in the order of `comparePaths`: each folder by the bytes of its names, followed by its contents. It
 * resumes after a path by comparing names, so that concurrent changes do not matter, and earlier folders are not
 * opened. Links are reported and never followed; `.git` is never entered.
 */
export async function walk(
  confinement: Confinement,
  { env, folder, includeIgnored, after, signal }: WalkOptions,
  visitor: Visitor,
): Promise<{ readonly unreadable: number }> {
  const pacer = createPacer(signal);
  let unreadable = 0;

  /** False when the visitor has ended the walk. */
  const visit = async (
    parent: PinnedFolder,
    dirents: readonly Dirent[],
    names: readonly string[],
    outer: IgnoreRules | undefined,
    resume: readonly string[],
  ): Promise<boolean> => {
    const rules =
      outer &&
      enterFolder(outer, top + names.length, toLookup(dirents), (name) => parent.at(byteStringToPath(name)));
    const here = [...names, ""];
    const absolute = [...above, ...here];
    const [resumeAt] = resume;

    for (const dirent of dirents) {
      const { name } = dirent;
      if (resumeAt !== undefined && name < resumeAt) continue;
      if (pacer.due()) await pacer.pause();
      const kind = kindOf(dirent);
      here[names.length] = name;
      absolute[top + names.length] = name;
      const entry = { parent, names: here, kind };
      const isRepository = name === ".git";
      if (rules && (isRepository || isIgnored(rules, absolute, kind === "directory"))) {
        visitor.omits?.(entry, isRepository ? "repository" : "ignored");
        continue;
      }
      if (confinement.denied(pathOf(parent, name)) !== undefined) continue;
      if (name !== resumeAt && !visitor.list(entry)) return false;
      if (kind !== "directory" || isRepository || !visitor.enters(entry)) continue;
      const child = openChild(confinement, parent, name);
      using _closedAtEnd = typeof child === "object" ? child : undefined;
      const inside = typeof child === "object" ? await readEntries(child).catch(orUnreadable) : child;
      if (typeof child !== "object" || typeof inside !== "object") {
        if (inside === "unreadable") unreadable++;
        visitor.omits?.(entry, "unreadable");
        continue;
      }
      const rest = name === resumeAt ? resume.slice(1) : [];
      if (!(await visit(child, inside, here, rules, rest))) return false;
    }
    return true;
  };

  using start = confinement.openFolder(folder);
  const above = toNames(start.path);
  const top = above.length;
  const root = confinement.roots.find((one) => isWithin(one, start.path)) ?? "";
  const rules = includeIgnored ? undefined : rulesAbove(above, loadGlobalRules(env, toNames(root).length));
  const dirents = await readEntries(start);
  await visit(start, dirents, [], rules, after === undefined ? [] : toNames(after));
  return { unreadable };
}

const toNames = (path: Path): string[] =>
  path
    .split("/")
    .filter((name) => name !== "")
    .map(pathToByteString);

/** Sorted by the bytes of their names. */
async function readEntries(folder: PinnedFolder): Promise<Dirent[]> {
  const options = { withFileTypes: true, encoding: "latin1" } as const;
  try {
    const path = folder.at("");
    const isBig = folder.stat.size > BIG_FOLDER_BYTES;
    const dirents = isBig ? await readdir(path, options) : readdirSync(path, options);
    return dirents.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    throw toToolError(cause, pathToUri(folder.path));
  }
}

/** The few names that are asked for are looked up in one go over the entries. */
function toLookup(dirents: readonly Dirent[]): (name: string) => boolean {
  const dotted = new Set<string>();
  for (const { name } of dirents) if (name.startsWith(".")) dotted.add(name);
  return (name) => dotted.has(name);
}

const pathOf = (parent: PinnedFolder, name: string): Path =>
  `${parent.path === "/" ? "" : parent.path}/${byteStringToPath(name)}`;

function openChild(
  confinement: Confinement,
  parent: PinnedFolder,
  name: string,
): PinnedFolder | "gone" | "unreadable" {
  const path = pathOf(parent, name);
  let child: PinnedFolder | undefined;
  try {
    child = confinement.openFolder(path);
    if (child.path === path) return child;
  } catch (cause) {
    if (!hasCode(cause, "NOT_FOUND", "NOT_A_DIRECTORY", "OUTSIDE_WORKSPACE")) return orUnreadable(cause);
  }
  // Something else is there now, maybe a link.
  child?.[Symbol.dispose]();
  return "gone";
}

function orUnreadable(cause: unknown): "unreadable" {
  if (hasCode(cause, "ACCESS_DENIED", "IO_ERROR")) return "unreadable";
  throw cause;
}
