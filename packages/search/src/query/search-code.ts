import { type Range, ToolError } from "@octant/core";
import type { RankedHit } from "../engine/code-index.ts";
import { isIn } from "../engine/scope.ts";
import type { SearchEngine } from "../engine/search-engine.ts";
import type { StoredSymbol } from "../engine/store.ts";
import { fuse } from "./fuse.ts";
import type { Found, Hit, Modality, RankedList } from "./hit.ts";
import { rankPaths } from "./rank-paths.ts";
import { isProse, type Route, routeOf } from "./route.ts";

export interface SearchRequest {
  readonly query: string;
  readonly modality: Modality;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called for a file that may contain a match but could not be parsed. */
  onUnparsed?(path: string): void;
}

/** The parts of a search: the workspace searches text, the engine does the rest. */
export interface SearchParts {
  readonly engine: Pick<SearchEngine, "rank" | "symbols" | "outline" | "syntax">;
  /** Literal matches, as ripgrep finds them. */
  grep(
    text: string,
    options: { readonly scope?: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly GrepMatch[]>;
  /** All searchable files. */
  paths(signal: AbortSignal): AsyncIterable<string>;
}

export interface GrepMatch {
  readonly path: string;
  readonly range: Range;
}

/** Literal matches to look at; a more common text is better found by another query. */
const MAX_LITERAL = 200;

/** Answers a question: routes it to the searches that can answer it, then fuses their lists. */
export async function searchCode(parts: SearchParts, request: SearchRequest): Promise<Hit[]> {
  const { query, modality, limit } = request;
  const text = query.trim();
  if (text === "") return [];
  switch (modality) {
    case "auto":
      return answer(parts, request, routeOf(text));
    case "text": {
      const lists = [words(parts, request), ...(canBeLiteral(text) ? [literal(parts, request, text)] : [])];
      return fuse(await Promise.all(lists), limit);
    }
    case "vector":
      return (await rank(parts, request, ["vector"])).map(fromChunk);
    case "symbol":
      return /\s/.test(text)
        ? namedLike(parts, request, text)
        : fuse([await symbols(parts, request, text)], limit);
    case "ast":
      if (isProse(text)) throw notAPattern();
      return fuse([await structures(parts, request, text)], limit);
    case "file":
      return fuse([await filesLike(parts, request, text)], limit);
    case "memory":
      throw new ToolError("UNSUPPORTED", "there is no memory to search here; ask for another modality", {
        what: "search.query modality memory",
        how: "start the server with the memory tool (--tools memory), then search with memory.recall",
      });
  }
}

/** Longer texts are sentences, which rarely occur literally. */
const MAX_LITERAL_WORDS = 8;
const canBeLiteral = (text: string) => !text.endsWith("?") && text.split(/\s+/).length <= MAX_LITERAL_WORDS;

function notAPattern(): ToolError<"INVALID_ARGUMENT"> {
  const message =
    "the query is a sentence, and modality ast takes code: write the shape with $NAME for one thing and $$$NAME for any number, as in 'class $C extends Base', or ask with modality auto";
  return new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "query", message }] });
}

/**
 * Several words: a kind and a name, the words of one name, or a description of what symbols with such names
 * do.
 */
async function namedLike(parts: SearchParts, request: SearchRequest, text: string): Promise<Hit[]> {
  const route = routeOf(text);
  if (route.asks === "definition") {
    const hits = await fuseAsked(parts, request, route);
    if (hits.length > 0) return hits;
  }
  const joined = symbols(parts, request, text.replace(/[^\p{L}\p{N}_$]+/gu, ""), true);
  const ranked = await rank(parts, request, ["text", "vector"]);
  const found = ranked.filter(({ symbol }) => symbol !== null).map(fromChunk);
  return fuse([await joined, { strategy: "symbol", found }], request.limit);
}

async function answer(parts: SearchParts, request: SearchRequest, route: Route): Promise<Hit[]> {
  const hits = await fuseAsked(parts, request, route);
  // A question that only looked like another kind is searched as a sentence.
  return hits.length > 0 ? hits : (await rank(parts, request, ["text", "vector"])).map(fromChunk);
}

async function fuseAsked(parts: SearchParts, request: SearchRequest, route: Route): Promise<Hit[]> {
  const { limit } = request;
  switch (route.asks) {
    case "definition":
      return fuse([ofKindsFirst(await symbols(parts, request, route.name, true), route.kinds)], limit);
    case "callers":
      return fuse([await callers(parts, request, route.name)], limit);
    case "symbol":
      return calledFirst(
        route.name,
        fuse(
          await Promise.all([symbols(parts, request, route.name), literal(parts, request, route.name)]),
          limit,
        ),
      );
    case "file":
      return fuse(
        await Promise.all([filesLike(parts, request, route.pattern), literal(parts, request, route.pattern)]),
        limit,
      );
    case "code":
      return fuse(
        await Promise.all([
          ifPattern(structures(parts, request, route.text)),
          literal(parts, request, route.text),
        ]),
        limit,
      );
    case "meaning":
      return [];
  }
}

/** Hits of the requested kind, unless there are none. */
function ofKindsFirst(list: RankedList, kinds: readonly string[] = []): RankedList {
  const placeOf = ({ kind }: Found) => (kinds.includes(kind) ? kinds.indexOf(kind) : kinds.length);
  return { ...list, found: list.found.toSorted((a, b) => placeOf(a) - placeOf(b)) };
}

/** Symbols with exactly this name come first, in their own order. */
function calledFirst(name: string, hits: readonly Hit[]): Hit[] {
  const own = name.replace(/::|#|->/g, ".");
  const rankOf = ({ symbol, why }: Hit) => {
    const plain = symbol === null ? "" : withoutNumber(symbol);
    const isCalledSo = plain === own || plain.endsWith(`.${own}`);
    const rank = why.find(({ strategy }) => strategy === "symbol")?.rank;
    return isCalledSo && rank !== undefined ? rank : Number.POSITIVE_INFINITY;
  };
  return hits
    .map((hit) => ({ hit, rank: rankOf(hit) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ hit }) => hit);
}

/** Duplicates of one name are numbered; a caller asks for the name without the number. */
const withoutNumber = (symbol: string) => symbol.replace(/~\d+/g, "");

const rank = ({ engine }: SearchParts, request: SearchRequest, strategies: ("text" | "vector")[]) => {
  const { query, scope, limit, signal } = request;
  return engine.rank(query, { strategies, scope, limit, signal });
};

async function words(parts: SearchParts, request: SearchRequest): Promise<RankedList> {
  return { strategy: "text", found: (await rank(parts, request, ["text"])).map(fromChunk) };
}

async function symbols(
  { engine }: SearchParts,
  { scope, limit }: SearchRequest,
  name: string,
  exact = false,
): Promise<RankedList> {
  return {
    strategy: "symbol",
    found: (await engine.symbols(name, { scope, limit, exact })).map(fromSymbol),
  };
}

async function callers(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const [called, used]: [Found[], Found[]] = [[], []];
  for await (const { path, hash, found } of engine.syntax.occurrences({
    name: own,
    scope,
    signal,
    onUnparsed,
  })) {
    for (const { role, range, within } of found) {
      const hit: Found = {
        path,
        range,
        hash,
        symbol: within?.path ?? null,
        kind: within?.kind ?? "lines",
      };
      if (role === "call") called.push(hit);
      else if (role === "use") used.push(hit);
    }
    if (countSymbols(called) >= limit) break;
  }
  const near = nearTo(await engine.symbols(own, { limit: MAX_DEFINITIONS, exact: true }));
  const byNearness = (a: Found, b: Found) => near(a) - near(b);
  return { strategy: "callers", found: [...called.sort(byNearness), ...used.sort(byNearness)] };
}

/** Definitions of one name to compare callers with. */
const MAX_DEFINITIONS = 20;

/**
 * The distance of a caller from a definition: same class, same file, same folder, or elsewhere. A near caller
 * is more likely to mean that definition.
 */
function nearTo(definitions: readonly StoredSymbol[]): (caller: Found) => number {
  const outer = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));
  const folder = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf("/")));
  return ({ path, symbol }) =>
    Math.min(
      3,
      ...definitions.map((definition) => {
        if (definition.file !== path) return folder(definition.file) === folder(path) ? 2 : 3;
        const within = outer(definition.path);
        return within !== "" && symbol?.startsWith(`${within}.`) ? 0 : 1;
      }),
    );
}

const countSymbols = (found: readonly Found[]) =>
  new Set(found.map(({ path, symbol }) => `${path}\n${symbol}`)).size;

async function structures(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  pattern: string,
): Promise<RankedList> {
  const found: Found[] = [];
  for await (const file of engine.syntax.structures({ pattern, scope, signal, onUnparsed })) {
    const places = file.found.map(({ range }) => ({ path: file.path, range, hash: file.hash }));
    found.push(...(await withSymbols(engine, places)));
    if (found.length >= limit) break;
  }
  return { strategy: "ast", found };
}

/** Code that is not a valid pattern is searched literally. */
async function ifPattern(list: Promise<RankedList>): Promise<RankedList> {
  try {
    return await list;
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "INVALID_ARGUMENT")
      return { strategy: "ast", found: [] };
    throw cause;
  }
}

async function literal(parts: SearchParts, request: SearchRequest, text: string): Promise<RankedList> {
  const { scope, signal } = request;
  const matches = await parts.grep(text, { scope, limit: MAX_LITERAL, signal });
  const places = matches.map(({ path, range }) => ({ path, range, hash: null }));
  return { strategy: "literal", found: await withSymbols(parts.engine, places) };
}

async function filesLike(
  { paths }: SearchParts,
  { limit, signal, scope = "" }: SearchRequest,
  pattern: string,
): Promise<RankedList> {
  const all = await Array.fromAsync(paths(signal));
  const ranked = rankPaths(
    pattern,
    all.filter((path) => isIn(scope, path)),
  );
  const found = ranked
    .slice(0, limit)
    .map((path): Found => ({ path, range: null, hash: null, symbol: null, kind: "file" }));
  return { strategy: "file", found };
}

/** Adds the innermost enclosing symbol to each location, where the file is indexed. */
async function withSymbols(
  engine: SearchParts["engine"],
  places: readonly { path: string; range: Range; hash: string | null }[],
): Promise<Found[]> {
  const outlines = new Map<string, Promise<StoredSymbol[]>>();
  const outlineOf = (path: string) => {
    const known = outlines.get(path) ?? engine.outline(path);
    outlines.set(path, known);
    return known;
  };
  return Promise.all(
    places.map(async (place) => {
      const outline = await outlineOf(place.path);
      // Symbols come in source order, the outer before the inner.
      const symbol = outline.findLast(
        ({ range, hash }) => contains(range, place.range) && (place.hash ?? hash) === hash,
      );
      return { ...place, symbol: symbol?.path ?? null, kind: symbol?.kind ?? "lines" };
    }),
  );
}

const contains = (outer: Range, inner: Range) =>
  isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);

const isBefore = (a: Range["start"], b: Range["start"]) =>
  a.line < b.line || (a.line === b.line && a.col <= b.col);

const fromSymbol = ({ file, hash, path, kind, range }: StoredSymbol): Found => ({
  path: file,
  range,
  hash,
  symbol: path,
  kind,
});

const fromChunk = ({ file, hash, symbol, firstLine, endLine, score, why }: RankedHit): Hit => ({
  path: file,
  hash,
  range: symbol?.range ?? { start: { line: firstLine, col: 0 }, end: { line: endLine, col: 0 } },
  symbol: symbol?.path ?? null,
  kind: symbol?.kind ?? "lines",
  score,
  why,
});
