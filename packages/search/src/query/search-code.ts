import { type Range, ToolError } from "@octant/core";
import type { RankedHit } from "../engine/code-index.ts";
import { isIn } from "../engine/scope.ts";
import type { SearchEngine } from "../engine/search-engine.ts";
import type { StoredSymbol } from "../engine/store.ts";
import { fuse } from "./fuse.ts";
import type { Found, Hit, Modality, RankedList } from "./hit.ts";
import { rankPaths } from "./rank-paths.ts";
import { type Route, routeOf } from "./route.ts";

export interface SearchRequest {
  readonly query: string;
  readonly modality: Modality;
  /** Only below this folder, or this file. */
  readonly scope?: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** What search is made of; the workspace looks for words, the engine does the rest. */
export interface SearchParts {
  readonly engine: Pick<SearchEngine, "rank" | "symbols" | "outline" | "syntax">;
  /** Where the very text stands, as ripgrep finds it. */
  grep(
    text: string,
    options: { readonly scope?: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly GrepMatch[]>;
  /** All files that can be searched. */
  paths(signal: AbortSignal): AsyncIterable<string>;
}

export interface GrepMatch {
  readonly path: string;
  readonly range: Range;
}

/** Places of a text that are looked at; what is everywhere is found by asking for something else. */
const MAX_LITERAL = 200;

/** Finds what a question asks for. Routed first: who knows the answer is asked; then the lists are fused. */
export async function searchCode(parts: SearchParts, request: SearchRequest): Promise<Hit[]> {
  const { query, modality, limit } = request;
  const text = query.trim();
  if (text === "") return [];
  switch (modality) {
    case "auto":
      return answer(parts, request, routeOf(text));
    case "text":
      return fuse([await literal(parts, request, text), await words(parts, request)], limit);
    case "vector":
      return (await rank(parts, request, ["vector"])).map(fromChunk);
    case "symbol":
      return fuse([await symbols(parts, request, text)], limit);
    case "ast":
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

async function answer(parts: SearchParts, request: SearchRequest, route: Route): Promise<Hit[]> {
  const hits = await fuseAsked(parts, request, route);
  // A question that only looked like another kind is still a question.
  return hits.length > 0 ? hits : (await rank(parts, request, ["text", "vector"])).map(fromChunk);
}

async function fuseAsked(parts: SearchParts, request: SearchRequest, route: Route): Promise<Hit[]> {
  const { limit } = request;
  switch (route.asks) {
    case "definition":
      return fuse([await symbols(parts, request, route.name, true)], limit);
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

/** Whoever gives a name means what is called so, wherever else it is mentioned. */
function calledFirst(name: string, hits: readonly Hit[]): Hit[] {
  const isCalledSo = ({ symbol }: Hit) => symbol === name || symbol?.endsWith(`.${name}`) === true;
  return hits.toSorted((a, b) => Number(isCalledSo(b)) - Number(isCalledSo(a)));
}

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
  { scope, limit, signal }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const [called, used]: [Found[], Found[]] = [[], []];
  for await (const { path, hash, found } of engine.syntax.occurrences({ name: own, scope, signal })) {
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
  return { strategy: "callers", found: [...called, ...used] };
}

const countSymbols = (found: readonly Found[]) =>
  new Set(found.map(({ path, symbol }) => `${path}\n${symbol}`)).size;

async function structures(
  { engine }: SearchParts,
  { scope, limit, signal }: SearchRequest,
  pattern: string,
): Promise<RankedList> {
  const found: Found[] = [];
  for await (const file of engine.syntax.structures({ pattern, scope, signal })) {
    const places = file.found.map(({ range }) => ({ path: file.path, range, hash: file.hash }));
    found.push(...(await withSymbols(engine, places)));
    if (found.length >= limit) break;
  }
  return { strategy: "ast", found };
}

/** Code need not be a pattern; then it is looked for as it is written. */
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

/** Each place with the smallest symbol around it, as far as the index knows the file. */
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
      // Symbols come in the order of the text, the outer before the inner.
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
