import { action, SymbolId, ToolError, Uri } from "@octant/core";
import { type Path, SEVERITIES } from "@octant/host";
import { z } from "zod";
import { INSPECT_SHORT } from "../kinds.ts";
import { spotOf } from "../place-lines.ts";
import { TREE_SITTER } from "./backends/tree-sitter.ts";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS, Paging, pageOfRanks } from "./page.ts";
import { comparePlaces, Place, toPlace } from "./place.ts";
import { toFile } from "./spot.ts";
import { placesText } from "./text.ts";

/** The time that a server needs to load the project. */
const PATIENCE_MS = 20_000;

export const Diagnostic = Place.extend({
  severity: z.enum(SEVERITIES),
  message: z.string(),
  source: z.string().optional(),
  code: z.string().optional(),
});

export const diagnostics = (code: Code) =>
  action({
    summary:
      "List the errors and warnings in a file; `checked` says whether types were checked or only syntax.",
    ...INSPECT_SHORT,
    input: z.strictObject({ uri: Uri.optional(), symbol_id: SymbolId.optional(), ...Paging }),
    output: z.object({
      results: z.array(Diagnostic),
      total: z.int(),
      checked: z
        .enum(["all", "syntax"])
        .describe("syntax: no language server answered, so types and names were not checked"),
      note: z.string().optional().describe("Why only syntax was checked, and how to get type checks"),
    }),
    errors: [...LIST_ERRORS, "UNSUPPORTED"],
    examples: [{ title: "Check a file", input: { uri: "src/main.ts" } }],
    text: placesText<z.output<typeof Diagnostic>>("problem", "problems", (row, reader) => {
      const from = [row.source, row.code].filter(Boolean).join(" ");
      return `${spotOf(row, reader)}: ${row.severity}: ${row.message}${from && ` [${from}]`}`;
    }),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const path = toFile(code, input);
      const answer = await firstAnswer(code, path, ctx, async ({ name, diagnostics: ask }) => {
        const found = await ask?.(path, PATIENCE_MS, ctx.signal);
        return found && { found, isSyntaxOnly: name === TREE_SITTER };
      });
      const missing = !answer || answer.isSyntaxOnly ? await whyNoServer(code, path) : undefined;
      if (!answer)
        throw new ToolError("UNSUPPORTED", `nothing here can check this file; ${missing}`, UNCHECKED);
      const sorted = answer.found.toSorted(comparePlaces);
      const results = await pageOfRanks(sorted, limit, ctx, async ({ path: _path, ...one }) => {
        const place = await toPlace(code, { path, range: one.range });
        return place && { ...place, ...one };
      });
      const checked = missing === undefined ? "all" : "syntax";
      const note =
        missing === undefined ? {} : { note: `only the syntax was checked, not types or names: ${missing}` };
      return { results, total: sorted.length, checked, ...note } as const;
    },
  });

const UNCHECKED = { what: "diagnostics of this language", how: "set language_servers in your settings" };

async function whyNoServer({ servers }: Code, path: Path): Promise<string> {
  const found = await servers.find(path);
  if (!("server" in found)) return `no language server was found; ${found.how}`;
  const { name, running } = found.server;
  const trouble = running?.trouble();
  return trouble === undefined ? `${name} did not answer in time; ask again soon` : cannotLoad(name, trouble);
}

export const cannotLoad = (server: string, trouble: string): string =>
  `${server} cannot load the project: ${trouble}`;
