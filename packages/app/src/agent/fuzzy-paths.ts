/** The paths of a project, prepared so that every key needs one pass over them. */
export interface PathList {
  readonly paths: readonly string[];
  readonly lower: readonly string[];
}

/** The files, and the folders above them with a slash at the end. */
export function createPathList(files: Iterable<string>): PathList {
  const folders = new Set<string>();
  const paths = [...files];
  for (const path of paths)
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  paths.push(...folders);
  return { paths, lower: paths.map((path) => path.toLowerCase()) };
}

/** The best paths for typed letters: those that contain them, in a name first, then those that have them in order. */
export function findPaths({ paths, lower }: PathList, typed: string, limit: number): readonly string[] {
  const wanted = typed.toLowerCase().replaceAll(/\s/g, "");
  const best: { at: number; score: number }[] = [];
  for (let at = 0; at < paths.length; at++) {
    const score = scoreOf(lower[at] ?? "", wanted);
    if (score === undefined || (best.length === limit && score <= (best.at(-1)?.score ?? 0))) continue;
    const place = best.findLastIndex((one) => one.score >= score) + 1;
    best.splice(place, 0, { at, score });
    if (best.length > limit) best.pop();
  }
  return best.map(({ at }) => paths[at] ?? "");
}

const TIER = 10_000;

/** Higher is better; undefined when the letters are not there in this order. */
function scoreOf(path: string, wanted: string): number | undefined {
  if (wanted === "") return -depthOf(path) * TIER - path.length;
  const name = path.lastIndexOf("/", path.length - 2) + 1;
  const inName = path.indexOf(wanted, name);
  if (inName !== -1) return (isWordStart(path, inName) ? (inName === name ? 5 : 4) : 3) * TIER - path.length;
  const found = path.indexOf(wanted);
  if (found !== -1) return (isWordStart(path, found) ? 2 : 1) * TIER - path.length;
  const span = spanOf(path, wanted);
  return span === undefined ? undefined : -span * 10 - path.length;
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf("/"); at !== -1 && at < path.length - 1; at = path.indexOf("/", at + 1)) depth++;
  return depth;
}

const isWordStart = (path: string, at: number): boolean => at === 0 || /[/._ -]/.test(path[at - 1] ?? "");

/** How far the letters are spread, from the last place where they can begin. */
function spanOf(path: string, wanted: string): number | undefined {
  let at = path.length;
  let end = 0;
  for (let i = wanted.length - 1; i >= 0; i--) {
    if (at === 0) return undefined;
    at = path.lastIndexOf(wanted[i] ?? "", at - 1);
    if (at === -1) return undefined;
    if (i === wanted.length - 1) end = at;
  }
  return end - at;
}
