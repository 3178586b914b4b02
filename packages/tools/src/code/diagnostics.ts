import { action, SymbolId, ToolError, Uri } from "@octant/core";
import { type Path, SEVERITIES, type SourceDiagnostic } from "@octant/host";
import { languageOf } from "@octant/search";
import { z } from "zod";
import { INSPECT_SHORT } from "../kinds.ts";
import { spotOf } from "../place-lines.ts";
import type { CodeBackend } from "./backend.ts";
import { TREE_SITTER } from "./backends/tree-sitter.ts";
import { type Code, firstAnswer } from "./code.ts";
import { compareLocations, Location, toLocation } from "./location.ts";
import { LIST_ERRORS, Paging, pageOfRanks } from "./paging.ts";
import { toFile } from "./position-input.ts";
import { placesText } from "./text.ts";
import { whyUnchecked } from "./unchecked.ts";
import { whyNoServer } from "./unsearched.ts";

/** The time that a server needs to load the project. */
const PATIENCE_MS = 20_000;

export const Diagnostic = Location.extend({
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
        .describe("syntax: types and names were not checked; the note says why"),
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
      const { answer, passedOver } = await firstAnswer(code, path, ctx, async (backend) => {
        const found = await backend.diagnostics?.(path, PATIENCE_MS, ctx.signal);
        return found && (await judge(code, backend, path, found));
      });
      if (!answer) {
        const why = passedOver ?? (await whyNoServer(code, path));
        throw new ToolError("UNSUPPORTED", `no backend here can check this file; ${why}`, UNCHECKED);
      }
      const { found, why } = answer;
      const sorted = found.toSorted(compareLocations);
      const results = await pageOfRanks(sorted, limit, ctx, async ({ path: _path, ...one }) => {
        const place = await toLocation(code, { path, range: one.range });
        return place && { ...place, ...one };
      });
      const checked = why === undefined ? "all" : "syntax";
      const note =
        why === undefined ? {} : { note: `only the syntax was checked, not types or names: ${why}` };
      return { results, total: sorted.length, checked, ...note } as const;
    },
  });

/** The credible problems, and why only the syntax counts as checked. */
async function judge(
  code: Code,
  { name, lacks }: CodeBackend,
  path: Path,
  found: readonly SourceDiagnostic[],
): Promise<{ readonly found: readonly SourceDiagnostic[]; readonly why?: string | undefined }> {
  if (name === TREE_SITTER) {
    // A macro looks like an error to the parser.
    const isCertain = languageOf(path)?.opaque === undefined;
    return { found: isCertain ? found : asHints(found), why: await whyNoServer(code, path) };
  }
  const lacking = lacks?.(path);
  if (lacking === undefined) return { found, why: whyUnchecked(code.workspace.confinement, path) };
  // Without the compiler's flags the server reports valid code as wrong; a problem is real if the parser reports it
  // too, unless it is a macro of a header that was not found.
  const faults = await code.sources.syntaxErrors(code.sources.read(path));
  const lines = new Set(faults.map(({ range }) => range.start.line));
  const both = found.filter(({ range }) => lines.has(range.start.line));
  const misses = found.some((one) => one.code === HEADER_NOT_FOUND);
  return { found: misses ? asHints(both) : both, why: lacking };
}

const HEADER_NOT_FOUND = "pp_file_not_found";

const asHints = (found: readonly SourceDiagnostic[]): SourceDiagnostic[] =>
  found.map((one) => ({ ...one, severity: "hint" }));

const UNCHECKED = { what: "diagnostics of this language", how: "set language_servers in your settings" };
