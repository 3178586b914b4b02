import { action, SymbolId, Uri } from "@octant/core";
import { pathToUri } from "@octant/host";
import { SYMBOL_KINDS } from "@octant/search";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS, Paging, pageOfRanks } from "./page.ts";
import { Place } from "./place.ts";
import { toFile } from "./spot.ts";
import { placesText } from "./text.ts";

export const FoundSymbol = Place.extend({ name: z.string(), kind: z.enum(SYMBOL_KINDS) });

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
      const uri = pathToUri(path);
      const found = await firstAnswer(
        code,
        path,
        ctx,
        ({ outline: ask }) => ask?.(path, ctx.signal),
        "quick",
      );
      const results = await pageOfRanks(found ?? [], limit, ctx, (symbol) => ({
        ...{ uri, range: symbol.range, name: symbol.name, kind: symbol.kind },
        snippet: symbol.signature,
        symbol_id: code.sources.symbolId(path, symbol),
      }));
      return { results, total: found?.length ?? 0 };
    },
  });
