import { action, SymbolId, Uri } from "@octant/core";
import { SEVERITIES } from "@octant/host";
import { z } from "zod";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS } from "./errors.ts";
import { Paging, pageOfRanks } from "./page.ts";
import { comparePlaces, Place, toPlace } from "./place.ts";
import { toFile } from "./spot.ts";
import { diagnosticsText } from "./text.ts";

/** A server that has to load the project first takes this long. */
const PATIENCE_MS = 20_000;

export const Diagnostic = Place.extend({
  severity: z.enum(SEVERITIES),
  message: z.string(),
  source: z.string().optional(),
  code: z.string().optional(),
});

export const diagnostics = (code: Code) =>
  action({
    summary: "List the errors and warnings in a file.",
    access: "read",
    timing: "async_short",
    intent: "inspect",
    input: z.strictObject({ uri: Uri.optional(), symbol_id: SymbolId.optional(), ...Paging }),
    output: z.object({ results: z.array(Diagnostic), total: z.int() }),
    errors: [...LIST_ERRORS, "UNSUPPORTED"],
    examples: [{ title: "Is it right?", input: { uri: "src/main.ts" } }],
    text: diagnosticsText,
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const path = toFile(code, input);
      const found = await firstAnswer(code, path, ctx, ({ diagnostics: ask }) =>
        ask?.(path, PATIENCE_MS, ctx.signal),
      );
      const sorted = (found ?? []).toSorted(comparePlaces);
      const results = await pageOfRanks(sorted, limit, ctx, async ({ path: _path, ...one }) => {
        const place = await toPlace(code, { path, range: one.range });
        return place && { ...place, ...one };
      });
      return { results, total: sorted.length };
    },
  });
