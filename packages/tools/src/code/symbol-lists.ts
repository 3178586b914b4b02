import { action, ofKind, SymbolId, Uri } from "@octant/core";
import { type Path, pathToUri, presentRoots } from "@octant/host";
import { SYMBOL_KINDS } from "@octant/search";
import { z } from "zod";
import { Also } from "../also.ts";
import { INSPECT, INSPECT_SHORT } from "../kinds.ts";
import { notSearched, toHidden, toNotSearched } from "../searched.ts";
import type { OutlineEntry } from "./backend.ts";
import { type Code, firstAnswer } from "./code.ts";
import { Location } from "./location.ts";
import { LIST_ERRORS, Paging, pageOfRanks, passedBefore } from "./paging.ts";
import { toFile } from "./position-input.ts";
import { placesText } from "./text.ts";
import { noteUnsearched, Unsearched } from "./unsearched.ts";

const MAX_QUERY_CHARS = 200;

/** The scope of all actions that search the project. */
export const Scope = ofKind("tree", Uri.optional().describe("Folder or file; default all roots"));

export const search_symbol = (code: Code) =>
  action({
    summary: "Find symbols by name, exact matches first.",
    ...INSPECT_SHORT,
    leavesOut: true,
    input: z.strictObject({
      query: z.string().min(1).max(MAX_QUERY_CHARS).describe("Name or part of a name"),
      also: Also,
      kind: z.enum(SYMBOL_KINDS).optional(),
      scope: Scope,
      ...Paging,
    }),
    output: z.object({ results: z.array(FoundSymbol), ...Unsearched, ...notSearched }),
    errors: LIST_ERRORS,
    examples: [
      { title: "Find by name", input: { query: "answer", also: ["reply", "respond"] } },
      { title: "Functions in a folder", input: { query: "ad", kind: "function", scope: "src/util" } },
    ],
    text: placesText("symbol"),
    async run({ query, also, kind, scope, limit }, ctx) {
      ctx.backend("tree-sitter");
      const where = scope === undefined ? undefined : code.workspace.confinement.toPath(scope);
      // One more than the page shows whether another page follows.
      const wanted = passedBefore(ctx) + limit + 1;
      const { symbols, unparsed, waiting } = await code.symbols.search(
        { query, also, kind, scope: where, limit: wanted, hides: toHidden(ctx) },
        ctx.signal,
      );
      const results = await pageOfRanks(symbols, limit, ctx, (one) => toFoundSymbol(code, one.file, one));
      const { missing } = presentRoots(code.workspace.confinement);
      return { results, ...noteUnsearched({ unparsed, waiting }), ...toNotSearched(ctx, missing) };
    },
  });

const FoundSymbol = Location.extend({ name: z.string(), kind: z.enum(SYMBOL_KINDS) });

const toFoundSymbol = ({ sources }: Code, path: Path, symbol: OutlineEntry) => ({
  uri: pathToUri(path),
  range: symbol.range,
  name: symbol.name,
  kind: symbol.kind,
  snippet: symbol.signature,
  symbol_id: sources.symbolId(path, symbol),
});

export const outline = (code: Code) =>
  action({
    summary: "List the symbols of a file in source order.",
    ...INSPECT,
    input: z.strictObject({ uri: Uri.optional(), symbol_id: SymbolId.optional(), ...Paging }),
    output: z.object({ results: z.array(FoundSymbol), total: z.int() }),
    errors: LIST_ERRORS,
    examples: [{ title: "Outline a file", input: { uri: "src/util/add.ts" } }],
    text: placesText("symbol"),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const path = toFile(code, input);
      const { answer: found } = await firstAnswer(
        code,
        path,
        ctx,
        ({ outline: ask }) => ask?.(path, ctx.signal),
        { order: "quick" },
      );
      const results = await pageOfRanks(found ?? [], limit, ctx, (one) => toFoundSymbol(code, path, one));
      return { results, total: found?.length ?? 0 };
    },
  });
