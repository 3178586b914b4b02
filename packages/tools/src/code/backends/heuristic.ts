import { ANSWER_BYTES } from "@octant/core";
import { type Path, type SourcePlace, type Spot, searchText, type Workspace } from "@octant/host";
import type { SymbolKind } from "@octant/search";
import type { CodeBackend, OutlineEntry } from "../backend.ts";
import type { Sources } from "../sources.ts";
import { lineAt, linesOf, rangeOn } from "../words.ts";

export const HEURISTIC = "heuristic";

/** Keywords that introduce definitions in most languages, and their kinds. */
const DEFINITIONS: readonly (readonly [keywords: string, kind: SymbolKind])[] = [
  ["function|func|fun|fn|def|sub|proc|procedure|defun|defn|defp|method|macro|defmacro|let rec", "function"],
  ["class|object|actor|protocol|contract|defmodule", "class"],
  ["interface|trait|typeclass", "interface"],
  ["struct|record|message|union", "struct"],
  ["enum", "enum"],
  ["module|namespace|package|library", "module"],
  ["type|typedef|typealias|newtype|data|alias", "type"],
  ["const|val|constant|define", "constant"],
  ["var|let|local|my|our|dim|set", "variable"],
];
const BEFORE =
  "^\\s*(?:[#(@]?(?:public|private|protected|internal|static|export|pub|abstract|final|async|open|local|inline)\\s+)*[#(]?";
const NAME = "[\\p{L}_$][\\p{L}\\p{Nd}_$?!-]*";
const MAX_OUTLINE = 2_000;
const MAX_LINE_CHARS = 1_000;

/** The fallback for languages without a grammar or server: matches words and typical forms of definitions. */
export function createHeuristic(workspace: Workspace, sources: Sources): CodeBackend {
  /** Uses of the name at a position, in files of the same kind. */
  const references = async (spot: Spot, signal: AbortSignal): Promise<SourcePlace[]> => {
    const word = sources.nameAt(spot);
    return word === undefined ? [] : findWord(workspace, word, globOf(spot.path), signal);
  };
  const definition = async (spot: Spot, signal: AbortSignal): Promise<SourcePlace[]> => {
    const word = sources.nameAt(spot);
    return (await references(spot, signal)).filter(({ path: file, range }) => {
      const line = lineAt(sources.readIfThere(file)?.text ?? "", range.start.line);
      return outlineOf(line).some(({ name }) => name === word);
    });
  };

  return {
    name: HEURISTIC,
    matchesNames: true,
    definition,
    async hover(spot, signal) {
      const [place] = await definition(spot, signal);
      if (!place) return null;
      return { text: lineAt(sources.read(place.path).text, place.range.start.line).trim() };
    },
    completion: sources.completion,
    outline: async (path) => outlineOf(sources.read(path).text),
  };
}

const RULES = DEFINITIONS.map(
  ([keywords, kind]) => [new RegExp(`${BEFORE}(?:${keywords})\\s+(${NAME})`, "iu"), kind] as const,
);

function outlineOf(text: string): OutlineEntry[] {
  const found: OutlineEntry[] = [];
  for (const [number, line] of linesOf(text).entries()) {
    if (found.length >= MAX_OUTLINE) break;
    if (line.length > MAX_LINE_CHARS) continue;
    for (const [rule, kind] of RULES) {
      const name = rule.exec(line)?.[1];
      if (name === undefined) continue;
      const range = rangeOn(number, line.indexOf(name), name.length);
      found.push({ name, path: name, kind, range, signature: line.trim() });
      break;
    }
  }
  return found;
}

/** Files with the same extension, or with the same name where there is none. */
function globOf(path: Path): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (dot > 0 ? `*${name.slice(dot)}` : name).replaceAll(/[[\]{}!?\\]/g, "\\$&");
}

const MAX_PLACES = 1_000;

/** Occurrences of a word in all files that match the glob, in path order. */
async function findWord(
  workspace: Workspace,
  word: string,
  glob: string,
  signal: AbortSignal,
): Promise<SourcePlace[]> {
  const search = {
    pattern: word,
    fixed: true,
    word: true,
    case: "sensitive",
    globs: [glob],
    context: 0,
    limit: MAX_PLACES,
    maxBytes: ANSWER_BYTES * MAX_PLACES,
  } as const;
  const { matches } = await searchText(workspace, search, { signal });
  return matches.map(({ uri, range }) => ({ path: workspace.confinement.toPath(uri), range }));
}
