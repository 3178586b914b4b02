import {
  ANSWER_BYTES,
  action,
  type Context,
  Hash,
  ofKind,
  pagingInput,
  Range,
  SymbolId,
  Uri,
} from "@octant/core";
import { isWithin, pathToUri, presentRoots, searchText } from "@octant/host";
import { type Hit, MODALITIES, routeOf, type SearchParts, searchCode, unmetBy } from "@octant/search";
import { z } from "zod";
import { Also } from "../also.ts";
import { toSymbolId } from "../code/position-input.ts";
import { notSearched, toHidden, toNotSearched } from "../searched.ts";
import { openStoredRows } from "../stored-rows.ts";
import type { SearchOptions } from "./options.ts";
import { prepareIndex } from "./prepare-index.ts";
import { isSecretFile } from "./secret-files.ts";
import { createNames, listSources, readSource } from "./source-files.ts";
import { queryText } from "./text.ts";
import { toVisible } from "./visible-parts.ts";

const MAX_QUERY_CHARS = 2_000;
/** Hits per query over all pages: later ones are noise. */
const MAX_HITS = 100;
/** Literal matches that are ranked; the answer shows a page of them. */
const MAX_MATCH_BYTES = 8 * ANSWER_BYTES;
const MAX_SNIPPET_LINES = 12;
const MAX_SNIPPET_CHARS = 600;

const FoundHit = z.object({
  uri: Uri,
  range: Range.nullable().describe("null: the whole file"),
  hash: Hash.nullable(),
  snippet: z.string(),
  symbol_id: SymbolId.nullable().describe("The innermost enclosing symbol"),
  kind: z.string(),
  score: z.number(),
  why: z.array(z.object({ strategy: z.string(), rank: z.int() })).readonly(),
});

export const IndexState = z.enum(["empty", "stale", "indexing", "fresh"]);

const Output = z.object({
  hits: z.array(FoundHit).readonly(),
  index: IndexState.describe("Unless fresh, only the most likely files were searched by meaning"),
  indexed_files: z.int(),
  total_files: z.int().nullable().describe("null until counted"),
  unmet: z
    .string()
    .optional()
    .describe("An assumption of the query that does not hold; the hits are the closest matches"),
  without_model: z.string().optional().describe("Why the embedding model failed; the word table answered"),
  unparsed: z.array(Uri).readonly().optional().describe("Files too large or too slow to parse, at most 20"),
  ...notSearched,
});
export type QueryOutput = z.output<typeof Output>;

export const query = (options: SearchOptions) =>
  action({
    summary:
      "Find code by a question, a name, a pattern or a path; several searches are fused into one list.",
    access: "read",
    timing: "async_short",
    intent: "inspect",
    leavesOut: true,
    input: z.strictObject({
      query: z.string().min(1).max(MAX_QUERY_CHARS),
      also: Also.describe("Add 3-6 likely names, synonyms"),
      modality: z.enum(MODALITIES).default("auto").describe("auto chooses by the query's form"),
      scope: ofKind("tree", Uri.optional().describe("Folder or file")),
      ...pagingInput(10, MAX_HITS),
    }),
    output: Output,
    errors: [
      "INVALID_CURSOR",
      "NOT_FOUND",
      "OUTSIDE_WORKSPACE",
      "UNSUPPORTED",
      "INVALID_ARGUMENT",
      "TIMEOUT",
      "UPSTREAM_ERROR",
    ],
    examples: [
      { title: "By purpose", input: { query: "add two numbers", also: ["add", "sum", "plus", "total"] } },
      { title: "By name", input: { query: "where is add defined?" } },
      { title: "By structure", input: { query: "const $N = $V", modality: "ast", scope: "src" } },
    ],
    text: queryText,
    async run({ query: asked, also = [], modality, scope, limit }, ctx) {
      const { engine, workspace, recall } = options;
      if (modality === "memory" && recall)
        return answerFromMemory(recall, asked, also, limit, workspace, ctx);
      const { toName, toPath } = createNames(workspace.confinement.roots);
      const isHidden = (path: string) => toHidden(ctx)(toPath(path));
      const unparsed = new Set<string>();
      let withoutModel: string | undefined;
      const within = scope === undefined ? undefined : toName(workspace.confinement.toPath(scope));
      const isAsked = (path: string) => isWithin(within === undefined ? "/" : toPath(within), toPath(path));
      const found = await openStoredRows(ctx, workspace.blobs, async () => {
        const ask = () =>
          searchCode(createParts(options, ctx), {
            query: asked,
            also,
            modality,
            ...(within !== undefined && { scope: within }),
            limit: MAX_HITS,
            signal: ctx.signal,
            onUnparsed(path) {
              if (!isHidden(path)) unparsed.add(path);
            },
            onWithoutModel(reason) {
              withoutModel = reason;
            },
          });
        const { inTime, scanned } = await prepareIndex(options, [asked, ...also], modality, ctx.signal);
        // A whole file need not be indexed to be found.
        const ranked = await engine.current(ask, ({ path, range }) => (range ? path : undefined), inTime);
        ctx.signal.throwIfAborted();
        const known = new Set(ranked.map(({ path }) => path));
        const rest = scanned.filter(({ path }) => !known.has(path) && isAsked(path) && !isHidden(path));
        return [...ranked, ...rest].slice(0, MAX_HITS);
      });
      const end = found.from + limit;
      const hits = found.whole.slice(found.from, end);
      if (end < found.whole.length) found.more(end);
      ctx.backend(
        [...new Set(hits.flatMap(({ why }) => why.map(({ strategy }) => strategy)))].sort().join("+") ||
          "none",
      );
      const { state, files, total } = await engine.progress();
      for (const path of await engine.unparsed()) if (isAsked(path) && !isHidden(path)) unparsed.add(path);
      // An incomplete index cannot tell that something does not exist.
      const canTell = modality === "auto" && state === "fresh";
      const unmet = canTell ? await findUnmet(createParts(options, ctx), asked, found.whole, ctx) : undefined;
      return {
        hits: hits.map((hit) => toAnswer(hit, options)),
        index: state,
        indexed_files: files,
        total_files: total,
        ...(unmet !== undefined && { unmet }),
        ...(withoutModel !== undefined && { without_model: withoutModel }),
        ...(unparsed.size > 0 && {
          unparsed: [...unparsed].slice(0, MAX_UNPARSED).map((path) => pathToUri(toPath(path))),
        }),
        ...toNotSearched(ctx, presentRoots(workspace.confinement).missing),
      };
    },
  });

const MAX_UNPARSED = 20;

/** Looks for the name in the files before it says that there is none. */
async function findUnmet(parts: SearchParts, asked: string, hits: readonly Hit[], { signal }: Context) {
  const route = routeOf(asked);
  const unmet = unmetBy(route, hits);
  if (unmet === undefined || !("name" in route)) return unmet;
  const own = route.name.split(/\.|::|#|->/).at(-1) || route.name;
  const [written] = await parts.grep(own, { limit: 1, signal });
  return unmetBy(route, hits, written?.path);
}

/** Searches earlier sessions, which have no index that could lag. */
async function answerFromMemory(
  recall: NonNullable<SearchOptions["recall"]>,
  query: string,
  also: readonly string[],
  limit: number,
  { blobs }: SearchOptions["workspace"],
  ctx: Context,
) {
  const { caller, signal } = ctx;
  const found = await openStoredRows(ctx, blobs, () =>
    recall({ query, also, limit: MAX_HITS, caller, signal }),
  );
  const end = found.from + limit;
  if (end < found.whole.length) found.more(end);
  ctx.backend("memory");
  const hits = found.whole.slice(found.from, end).map((one, at) => ({
    ...one,
    range: null,
    hash: null,
    symbol_id: null,
    why: [{ strategy: "memory", rank: found.from + at + 1 }],
  }));
  return { hits, index: "fresh" as const, indexed_files: 0, total_files: 0 };
}

function createParts({ engine, workspace }: SearchOptions, ctx: Context): SearchParts {
  const { toName, toPath } = createNames(workspace.confinement.roots);
  const parts: SearchParts = {
    engine,
    async grep(text, { scope, limit, signal }) {
      const { matches } = await searchText(
        workspace,
        {
          pattern: text,
          fixed: true,
          case: "smart",
          context: 0,
          globs: [],
          limit,
          maxBytes: MAX_MATCH_BYTES,
          path: scope === undefined ? undefined : toPath(scope),
          hides: (file) => isSecretFile(file) || toHidden(ctx)(file),
        },
        { signal, onProgress: ({ seconds }) => ctx.progress({ progress: seconds }) },
      );
      return matches.map(({ uri, range, text: line }) => ({
        path: toName(workspace.confinement.toPath(uri)),
        range,
        line,
      }));
    },
    async *paths(signal) {
      for await (const { path } of listSources(workspace, signal)) yield path;
    },
  };
  if (ctx.hides(null) === undefined) return parts;
  return toVisible(parts, (path) => toHidden(ctx)(toPath(path)));
}

function toAnswer(hit: Hit, { workspace }: SearchOptions): z.input<typeof FoundHit> {
  const path = createNames(workspace.confinement.roots).toPath(hit.path);
  const { range, hash, symbol, kind, score, why } = hit;
  const text = readSource(workspace, hit.path)?.text ?? "";
  const lines = range ? text.split("\n").slice(range.start.line, range.end.line + 1) : text.split("\n");
  return {
    uri: pathToUri(path),
    range,
    hash,
    snippet: lines
      .slice(0, range ? MAX_SNIPPET_LINES : 1)
      .join("\n")
      .slice(0, MAX_SNIPPET_CHARS),
    symbol_id: symbol === null ? null : toSymbolId(workspace.confinement, path, symbol),
    kind,
    score,
    why,
  };
}
