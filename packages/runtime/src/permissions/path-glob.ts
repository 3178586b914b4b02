import { realpathSync } from "node:fs";
import { fromNative, hasInode, holdsLinkTo, isWithin, type Path, splitPath, toNative } from "@octant/host";
import { escapeGlob, literalFolder, toGlobTest } from "./glob.ts";
import type { ResolvedPath } from "./real-path.ts";

export interface Places {
  /** Real paths; the first is where relative paths start. */
  readonly roots: readonly Path[];
  /** The folders that `~/` in a rule means; without any, such a rule cannot be evaluated. */
  readonly homes?: readonly Path[];
  /** The project that the first root is another working tree of: rules about its files apply to their copies. */
  readonly copyOf?: WorkingTree | undefined;
  /** The files that a stored undo record changes; undefined for any other ref. */
  undoneBy?(ref: string): readonly string[] | undefined;
  /** The PATH that programs are looked for in. */
  readonly searchPath?: string | undefined;
}

export interface WorkingTree {
  /** The folder whose copy the first root is. */
  readonly top: Path;
  /** The start of relative paths in rules there. */
  readonly roots: readonly Path[];
}

/** How a rule matches a call: certainly if it allows, possibly if it denies or asks. */
export type Reading = "sure" | "possible";

/**
 * A glob without a leading `/` is relative to each root. For deny and prompt rules a glob without any slash matches
 * that name in every folder, and a folder includes its contents; for allow rules it is taken literally. Undefined when
 * the glob cannot be evaluated.
 */
export function toPathTest(
  glob: string,
  reading: Reading,
  places: Places,
): ((path: ResolvedPath) => boolean) | undefined {
  const tests = toTests(glob, reading, places);
  if (!tests) return undefined;
  if (reading === "sure") return (path) => tests.some((test) => surelyHolds(test, path));
  return (path) =>
    tests.some((test) => mayHold(test, path)) ||
    toOriginals(path, places).some((original) => tests.some((test) => mayHold(test, original)));
}

function toTests(glob: string, reading: Reading, places: Places): readonly Test[] | undefined {
  const written = glob.replace(/^(?:\.\/)+/, "");
  const exact = written.replace(/\/$/, "/**");
  const isAnywhere = reading === "possible" && !written.replace(/\/$/, "").includes("/");
  const starts = toStarts(exact, places);
  const tests = starts.flatMap(
    ({ folder, rest }) => toTest(isAnywhere ? `${folder}**/${rest}` : folder + rest) ?? [],
  );
  return tests.length === 0 || tests.length < starts.length ? undefined : tests;
}

/** Finds the subject of a restrictive rule: a pattern on existing paths, and the folder that holds all of them. */
export type PathPattern = Pick<Test, "folder" | "matches">;

export function toPatterns(glob: string, places: Places): readonly PathPattern[] {
  const [root = "/"] = places.roots;
  const tests = toTests(glob, "possible", places);
  // A rule that cannot be evaluated may be about everything.
  if (!tests) return places.roots.map((folder) => ({ folder, matches: () => true }));
  return tests.map(({ folder, matches }): PathPattern => {
    const { copyOf } = places;
    if (!copyOf || !(isWithin(copyOf.top, folder) || isWithin(folder, copyOf.top)))
      return { folder, matches };
    return { folder: root, matches: (path) => matches(path) || matches(toOriginal(path, places)) };
  });
}

/** The file in the project itself whose copy this is. */
function toOriginals(path: ResolvedPath, places: Places): readonly ResolvedPath[] {
  if (!places.copyOf) return [];
  const of = (one: Path) => toOriginal(one, places);
  return [{ named: of(path.named), entry: of(path.entry), real: of(path.real), isTree: path.isTree }];
}

const toOriginal = (path: Path, { roots: [root = "/"], copyOf }: Places): Path =>
  copyOf && isWithin(root, path) ? copyOf.top + path.slice(root.length) : path;

/** Both the entry and where it leads match, and so would anything below a folder that is taken as a whole. */
const surelyHolds = ({ matches }: Test, { entry, real, isTree }: ResolvedPath): boolean =>
  [entry, real].every((path) => matches(path) && (!isTree || probesBelow(path).every(matches)));

/** Whether any of its names, a parent folder or something below it may match. */
const mayHold = (test: Test, { named, entry, real, isTree, inode }: ResolvedPath): boolean =>
  test.holds(real) ||
  (entry !== real && test.holds(entry)) ||
  (named !== entry && test.holds(named)) ||
  (isTree && (isBelow(real, test.folder) || isBelow(test.folder, real))) ||
  // A hard link is another name of the same file.
  (inode !== undefined && hasInode(toWanted(test), new Set([inode]))) ||
  (isTree && holdsLinkTo(toWanted(test), real));

/** A folder named in the rule includes its contents. */
const toWanted = (test: Test): Test => ({ ...test, matches: test.holds });

interface Test {
  readonly folder: Path;
  matches(path: Path): boolean;
  /** Whether the path itself or a folder above it matches. */
  holds(path: Path): boolean;
}

function toTest(glob: string): Test | undefined {
  const matches = toGlobTest(glob);
  // One comparison for all folders above: a path may have thousands. A backslash at the end stays literal.
  const holds = toGlobTest(`${/(?<!\\)(?:\\\\)*\\$/.test(glob) ? `${glob}\\` : glob}/**`);
  return matches && holds && { folder: literalFolder(glob), matches, holds };
}

/** Where the parts of a glob start; none when that is unknown. Paths are compared as they really are. */
function toStarts(glob: string, { roots, homes = [], copyOf }: Places) {
  const from = (folders: readonly Path[], rest: string) =>
    folders.map((folder) => ({ folder: `${escapeGlob(folder === "/" ? "" : folder)}/`, rest }));
  if (glob.startsWith("/")) return [{ folder: "/", rest: glob.slice(1) }, ...realStarts(glob)];
  if (/^~(?:\/|$)/.test(glob)) return from([...new Set(homes.flatMap(namesOf))], glob.slice(2) || "**");
  return from([...roots, ...(copyOf?.roots ?? [])], glob);
}

/** For a rule that names a folder through a link. */
function realStarts(glob: string) {
  const folder = literalFolder(glob);
  const real = realOf(folder);
  if (real === folder) return [];
  const rest = glob.split("/").slice(folder.split("/").length).join("/");
  return [{ folder: escapeGlob(real) + (rest === "" ? "" : "/"), rest }];
}

const namesOf = (folder: Path): readonly Path[] => [folder, realOf(folder)];

/** Where a path leads, even if its last parts do not exist yet. */
function realOf(path: Path): Path {
  try {
    return fromNative(realpathSync(toNative(path), "buffer"));
  } catch {
    const { parent, name } = splitPath(path);
    return path === "/" ? path : `${parent === "/" ? "" : realOf(parent)}/${name}`;
  }
}

/** Where names are the same in capitals, so are folders. */
const isBelow = (folder: Path, path: Path): boolean =>
  process.platform === "darwin" ? isWithin(folder.toLowerCase(), path.toLowerCase()) : isWithin(folder, path);

/** Names that no rule is written for: only a glob for everything below matches them. */
const probesBelow = (folder: Path): readonly Path[] => [`${folder}/\u{1}`, `${folder}/\u{1}/\u{1}`];
