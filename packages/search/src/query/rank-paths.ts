import { posix } from "node:path";
import { parseTextGlob } from "@octant/core";

/** The paths that match a name, a part of a path or a glob, closest first. */
export function rankPaths(pattern: string, paths: Iterable<string>): string[] {
  const wanted = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  if (wanted === "") return [];
  const fit = /[*?[{]/.test(wanted) ? globFit(wanted) : partFit(wanted.toLowerCase());
  return [...paths]
    .map((path) => ({ path, fit: fit(path) }))
    .filter((each) => each.fit > 0)
    .sort((a, b) => b.fit - a.fit || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

/** A glob without a slash matches the file name in any folder. */
const globFit = (glob: string) => {
  const anywhere = glob.includes("/") ? glob : `**/${glob}`;
  const matches = parseTextGlob(anywhere);
  return (path: string) => (matches?.(path) ? 1 : 0);
};

const partFit = (wanted: string) => (path: string) => {
  const small = path.toLowerCase();
  const name = posix.basename(small);
  if (small === wanted) return 6;
  if (small.endsWith(`/${wanted}`)) return 5;
  if (name.startsWith(wanted)) return 4;
  if (`/${small}`.includes(`/${wanted}/`)) return 3;
  if (name.includes(wanted)) return 2;
  return small.includes(wanted) ? 1 : 0;
};
