import { ToolError } from "@octant/core";
import type { RankedHit } from "../engine/code-index.ts";
import { isIn } from "../engine/scope.ts";
import type { StoredSymbol } from "../engine/store.ts";
import { asWritten, definitionsIn, ofKindsFirst, orderByName, spokenNames } from "./by-name.ts";
import { fuse, inTurn } from "./fuse.ts";
import type { Found, Hit, RankedList, SearchParts, SearchRequest, Strategy } from "./hit.ts";
import {
  byDistance,
  canBeLiteral,
  distanceOf,
  isInString,
  literal,
  literalPart,
  withSymbols,
} from "./literal.ts";
import { rankPaths } from "./rank-paths.ts";
import { isProse, type Route, routeOf, unmetBy } from "./route.ts";
import { callers, subtypes } from "./uses.ts";

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
  // The thing may have one of the caller's other names.
  const isElsewhere = (request.also?.length ?? 0) > 0 && unmetBy(route, hits) !== undefined;
  if (hits.length > 0 && !isElsewhere) return hits;
  // A question that only looked like another kind is searched as a sentence.
  return inTurn([await byMeaning(parts, request), hits], request.limit);
}

/** A phrase or name that code contains more often than this says nothing about the question. */
const MAX_PHRASES = 3;

/**
 * Ranks by words and meaning. Definitions whose name consists of these words come first, then string literals in code
 * that contain the phrase.
 */
async function byMeaning(parts: SearchParts, request: SearchRequest): Promise<Hit[]> {
  const text = request.query.trim();
  const phrase = literalPart(text);
  const [ranked, written, ...named] = await Promise.all([
    rank(parts, request, ["text", "vector"]),
    phrase === undefined ? undefined : literal(parts, request, phrase, isInString),
    ...spokenNames(text).map((name) => symbols(parts, request, name, true)),
  ]);
  const first = (strategy: Strategy, found: readonly Found[]) =>
    fuse(found.length > MAX_PHRASES ? [] : [{ strategy, found }]);
  const inCode = (found: readonly Found[]) => found.filter((place) => distanceOf(place) === 0);
  const defined = named.flatMap(definitionsIn);
  return inTurn(
    [
      first("symbol", inCode(defined).length > 0 ? inCode(defined) : defined),
      first("literal", inCode(written?.found ?? [])),
      ranked.map(fromChunk),
    ],
    request.limit,
  );
}

async function fuseAsked(parts: SearchParts, request: SearchRequest, route: Route): Promise<Hit[]> {
  const { limit } = request;
  switch (route.asks) {
    case "definition": {
      const exact = asWritten(route.name, await symbols(parts, request, route.name, true));
      const list = exact.found.length > 0 ? exact : await symbols(parts, request, route.name);
      return fuse([ofKindsFirst(list, route.kinds)], limit);
    }
    case "callers":
    case "subtypes": {
      const list = await { callers, subtypes }[route.asks](parts, request, route.name);
      return fuse([list.found.length > 0 ? list : await symbols(parts, request, route.name, true)], limit);
    }
    case "symbol": {
      const lists = [symbols(parts, request, route.name), literal(parts, request, route.name)];
      return orderByName(route.name, fuse(await Promise.all(lists))).slice(0, limit);
    }
    case "literal":
      return fuse([await literal(parts, request, route.text)], limit);
    case "file": {
      const lists = [filesLike(parts, request, route.pattern), literal(parts, request, route.pattern)];
      const [files = [], places = []] = (await Promise.all(lists)).map((list) => fuse([list], limit));
      return inTurn([files, places], limit);
    }
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

const rank = ({ engine }: SearchParts, request: SearchRequest, strategies: ("text" | "vector")[]) => {
  const { query, also, scope, limit, signal, onWithoutModel } = request;
  return engine.rank(query, { strategies, also, scope, limit, signal, onWithoutModel });
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
  return { strategy: "ast", found: found.toSorted(byDistance) };
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
