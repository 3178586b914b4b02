import type { Path, TextPattern } from "@octant/host";
import { keptShareOf, type Route, routeOf, stemOf } from "@octant/search";
import { createNames, filesWith, type SearchedWorkspace } from "./source-files.ts";

/** Parsed for one query while the index is incomplete: about a second of work. */
const MAX_FIRST_FILES = 240;
/** Each costs a run of ripgrep over the project. */
const MAX_WORDS = 6;
const MIN_WORD_CHARS = 3;
/** Words that say nothing about a file. */
const COMMON = new Set(
  "the and are for that this with from into not was were will has have had can may which when where who what how does all any each only used use using given class function method code file".split(
    " ",
  ),
);

/** The files most likely to answer a question, found with ripgrep, best first. */
export async function findFirstFiles(
  workspace: SearchedWorkspace,
  [query, ...also]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<string[]> {
  const find = (pattern: TextPattern) => filesWith(workspace, pattern, { signal });
  const route = routeOf(query);
  const found = "name" in route ? await holdingName(find, route) : await holdingWords(find, query, also);
  const { toName } = createNames(workspace.confinement.roots);
  return found.slice(0, MAX_FIRST_FILES).map(toName);
}

type Find = (pattern: TextPattern) => Promise<ReadonlySet<Path>>;

const DEFINES =
  "(?:class|def|fn|func|function|interface|struct|trait|enum|type|const|static|let|var|macro_rules!|module|namespace)";

/** Matches a line that seems to define a name with one of the words in it. */
const definitionOf = (stems: readonly string[]): TextPattern => ({
  pattern: `\\b(?:${DEFINES}|public|private|protected)\\s.{0,80}(?:${stems.join("|")})\\w*\\s*[(<{:=]`,
  case: "insensitive",
});

/** Files that seem to define the name, then those that contain it. */
async function holdingName(find: Find, { name }: Extract<Route, { name: string }>): Promise<Path[]> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const literal = own.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
  const [defining, holding] = await Promise.all([
    find({ pattern: `\\b${DEFINES}\\s+(?:\\([^)]*\\)\\s*)?${literal}\\b`, case: "insensitive" }),
    find({ pattern: own, fixed: true, case: "insensitive" }),
  ]);
  return [...defining.union(holding)];
}

/**
 * Ranks files by how many of the words occur in their text or path; rare words count more, and so do files that seem
 * to define a matching name. Tests, documentation and data count less, as in the answer.
 */
async function holdingWords(find: Find, query: string, also: readonly string[]): Promise<Path[]> {
  const stems = new Set([query, also.join(" ")].flatMap(stemsOf));
  const lists = await Promise.all(
    [...stems].map(async (stem) => {
      const files = await find({ pattern: stem, fixed: true, case: "insensitive" });
      return { stem, files, rarity: 1 / Math.log2(2 + files.size) };
    }),
  );
  const naming = lists.length > 0 ? await find(definitionOf(lists.map(({ stem }) => stem))) : new Set<Path>();
  const scores = new Map<Path, number>();
  for (const { stem, files, rarity } of lists)
    for (const path of files) {
      const named = path.toLowerCase().includes(stem) ? 1 : 0;
      scores.set(path, (scores.get(path) ?? 0) + (1 + named) * rarity);
    }
  const shareOf = keptShareOf(query);
  return [...scores]
    .map(([path, score]) => ({ path, score: score * shareOf(path) * (naming.has(path) ? 2 : 1) }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

/** The stems of the words that say something, longest first. */
const stemsOf = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}_$]+/gu) ?? [])
    .filter((word) => word.length >= MIN_WORD_CHARS && !COMMON.has(word.toLowerCase()))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) => stemOf(word.toLowerCase()));
