import type { Path } from "@octant/host";
import { keptShareOf, type Route, routeOf, stemOf } from "@octant/search";
import { createNames, filesWith, linesWith, type SearchedWorkspace } from "./source-files.ts";

/** Parsed for one query while the index is incomplete. */
export const MAX_FIRST_FILES = 120;
/** Words of the question, and as many of its other wordings. */
const MAX_WORDS = 6;
const MIN_WORD_CHARS = 3;
/** More lines of one file say little more about it. */
const MAX_LINES_PER_FILE = 40;
const MAX_LINE_CHARS = 1_000;
/** Words that say nothing about a file. */
const COMMON = new Set(
  "the and are for that this with from into not was were will has have had can may which when where who what how does all any each only used use using given class function method code file".split(
    " ",
  ),
);

/** A file that may answer, and its line with most of the words, from 0; null when the file was found by its name. */
export interface LikelyFile {
  readonly path: string;
  readonly line: number | null;
}

/** The files most likely to answer a question, found with ripgrep, best first. */
export async function findFirstFiles(
  workspace: SearchedWorkspace,
  [query, ...also]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<LikelyFile[]> {
  const route = routeOf(query);
  const found =
    "name" in route
      ? await holdingName(workspace, route, signal)
      : await holdingWords(workspace, query, also, signal);
  const { toName } = createNames(workspace.confinement.roots);
  return found.map(({ path, line }) => ({ path: toName(path), line }));
}

const DEFINES =
  "(?:class|def|fn|func|function|interface|struct|trait|enum|type|const|static|let|var|macro_rules!|module|namespace)";

/** Files that seem to define the name, then those that contain it. */
async function holdingName(
  workspace: SearchedWorkspace,
  { name }: Extract<Route, { name: string }>,
  signal: AbortSignal,
): Promise<LikelyFile[]> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const literal = own.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
  const [defining, holding] = await Promise.all([
    filesWith(
      workspace,
      { pattern: `\\b${DEFINES}\\s+(?:\\([^)]*\\)\\s*)?${literal}\\b`, case: "insensitive" },
      { signal },
    ),
    filesWith(workspace, { pattern: own, fixed: true, case: "insensitive" }, { signal }),
  ]);
  return [...defining.union(holding)].map((path) => ({ path, line: null }));
}

/**
 * Ranks files by how many of the words occur in their text or path; rare words count more, and so do files that seem
 * to define a matching name. Tests, documentation and data count less, as in the answer.
 */
async function holdingWords(
  workspace: SearchedWorkspace,
  query: string,
  also: readonly string[],
  signal: AbortSignal,
): Promise<LikelyFile[]> {
  const stems = [...new Set([query, also.join(" ")].flatMap(stemsOf))];
  if (stems.length === 0) return [];
  const any = stems.join("|").replaceAll("$", "\\$");
  const pattern = { pattern: any, case: "insensitive", maxPerFile: MAX_LINES_PER_FILE } as const;
  // The line seems to define a name with one of the words in it.
  const defines = new RegExp(
    `\\b(?:${DEFINES}|public|private|protected)\\s.{0,80}(?:${any})\\w*\\s*[(<{:=]`,
    "i",
  );
  const files = new Map<
    Path,
    { readonly stems: Set<string>; isNaming: boolean; line: number; most: number }
  >();
  for await (const { path, line, text } of linesWith(workspace, pattern, { signal })) {
    const small = text.slice(0, MAX_LINE_CHARS).toLowerCase();
    const held = stems.filter((stem) => small.includes(stem));
    const file = files.get(path) ?? { stems: new Set(), isNaming: false, line, most: 0 };
    files.set(path, file);
    for (const stem of held) file.stems.add(stem);
    const isNaming = defines.test(small);
    file.isNaming ||= isNaming;
    const most = held.length + (isNaming ? 1 : 0);
    if (most > file.most) Object.assign(file, { line, most });
  }
  const all = [...files.values()];
  const rarity = new Map(
    stems.map((stem) => [stem, 1 / Math.log2(2 + all.filter((file) => file.stems.has(stem)).length)]),
  );
  const shareOf = keptShareOf(query);
  const scoreOf = (path: Path, { stems: held, isNaming, most }: FileWords) => {
    const inPath = path.toLowerCase();
    let sum = 0;
    for (const stem of held) sum += (inPath.includes(stem) ? 2 : 1) * (rarity.get(stem) ?? 0);
    return sum * shareOf(path) * (isNaming ? 2 : 1) * most;
  };
  return [...files]
    .map(([path, file]) => ({ path, line: file.line, score: scoreOf(path, file) }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

interface FileWords {
  readonly stems: Set<string>;
  isNaming: boolean;
  /** The line that has most of the stems, and how many. */
  line: number;
  most: number;
}

/** The stems of the words that say something, longest first. */
const stemsOf = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}_$]+/gu) ?? [])
    .filter((word) => word.length >= MIN_WORD_CHARS && !COMMON.has(word.toLowerCase()))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) => stemOf(word.toLowerCase()));
