import { isWithin, type Path, splitPath } from "@octant/host";
import { escapeGlob, literalFolder, toGlobTest } from "./glob.ts";
import { hasInode, holdsLinkTo } from "./hard-links.ts";
import type { ResolvedPath } from "./real-path.ts";

export interface Places {
  /** Real paths; the first is where relative paths start. */
  readonly roots: readonly Path[];
  /** What `~/` in a rule means; without it such a rule cannot be evaluated. */
  readonly home?: string;
  /** The PATH that programs are looked for in. */
  readonly searchPath?: string | undefined;
}

/** How a rule is held against a call: for sure by one that allows, possibly by one that denies or asks. */
export type Reading = "sure" | "possible";

/**
 * A glob without a leading `/` is relative to each root. For deny and prompt rules a glob without any slash matches
 * that name in every folder, and a folder includes its contents; for allow rules it is taken literally. Undefined when
 * the glob cannot be evaluated.
 */
export function toPathTest(
  glob: string,
  reading: Reading,
  { roots, home }: Places,
): ((path: ResolvedPath) => boolean) | undefined {
  const written = glob.replace(/^(?:\.\/)+/, "");
  const exact = written.replace(/\/$/, "/**");
  const isAnywhere = reading === "possible" && !written.replace(/\/$/, "").includes("/");
  const starts = toStarts(exact, roots, home);
  if (!starts) return undefined;
  const tests = starts.flatMap(
    ({ folder, rest }) => toTest(isAnywhere ? `${folder}**/${rest}` : folder + rest) ?? [],
  );
  if (tests.length < starts.length) return undefined;
  const holds = reading === "sure" ? surelyHolds : mayHold;
  return (path) => tests.some((test) => holds(test, path));
}

/** Both the entry and where it leads match, and so would anything below a folder that is taken as a whole. */
const surelyHolds = ({ matches }: Test, { entry, real, isTree }: ResolvedPath): boolean =>
  [entry, real].every((path) => matches(path) && (!isTree || probesBelow(path).every(matches)));

/** Whether any of its names, a parent folder or something below it may match. */
const mayHold = (test: Test, { named, entry, real, isTree, inode }: ResolvedPath): boolean =>
  holdsFolderOf(test, real) ||
  (entry !== real && holdsFolderOf(test, entry)) ||
  (named !== entry && holdsFolderOf(test, named)) ||
  (isTree && (isBelow(real, test.folder) || isBelow(test.folder, real))) ||
  // A hard link is another name of the same file.
  (inode !== undefined && hasInode(toWanted(test), new Set([inode]))) ||
  (isTree && holdsLinkTo(toWanted(test), real));

/** A folder named in the rule includes its contents. */
const toWanted = (test: Test): Test => ({ ...test, matches: (path) => holdsFolderOf(test, path) });

interface Test {
  readonly folder: Path;
  matches(path: Path): boolean;
}

function toTest(glob: string): Test | undefined {
  const matches = toGlobTest(glob);
  return matches && { folder: literalFolder(glob), matches };
}

function toStarts(glob: string, roots: readonly Path[], home: string | undefined) {
  if (glob.startsWith("/")) return [{ folder: "/", rest: glob.slice(1) }];
  if (!/^~(?:\/|$)/.test(glob))
    return roots.map((root) => ({ folder: `${escapeGlob(root === "/" ? "" : root)}/`, rest: glob }));
  return home === undefined ? undefined : [{ folder: `${escapeGlob(home)}/`, rest: glob.slice(2) || "**" }];
}

/** The path itself or a folder above it. */
function holdsFolderOf({ folder, matches }: Test, path: Path): boolean {
  for (let at = path; isBelow(folder, at); at = splitPath(at).parent) {
    if (matches(at)) return true;
    if (at === "/") return false;
  }
  return false;
}

/** Where names are the same in capitals, so are folders. */
const isBelow = (folder: Path, path: Path): boolean =>
  process.platform === "darwin" ? isWithin(folder.toLowerCase(), path.toLowerCase()) : isWithin(folder, path);

/** Names that no rule is written for: only a glob for everything below matches them. */
const probesBelow = (folder: Path): readonly Path[] => [`${folder}/\u{1}`, `${folder}/\u{1}/\u{1}`];
