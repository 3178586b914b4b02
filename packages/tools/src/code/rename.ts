import { action, invalidArgument, ToolError } from "@octant/core";
import {
  createLanguageClient,
  isWithin,
  type LanguageClient,
  ServerRefused,
  ServerUnavailable,
  type Spot,
} from "@octant/host";
import { z } from "zod";
import { APPLY_SHORT } from "../kinds.ts";
import { ChangedFiles, changesText, EDIT_ERRORS, makeChanges } from "./changed-files.ts";
import type { Code } from "./code.ts";
import { cannotLoad } from "./diagnostics.ts";
import { checkIdentifier } from "./identifier.ts";
import { proposeForAll } from "./propose-for-all.ts";
import { SpotInput, toSpot } from "./spot.ts";

const MAX_NAME_CHARS = 200;

export const rename = (code: Code) =>
  action({
    summary: "Rename a symbol everywhere, in all files or none.",
    ...APPLY_SHORT,
    destructive: true,
    input: z.strictObject({
      ...SpotInput,
      new_name: z.string().min(1).max(MAX_NAME_CHARS).describe("An identifier of the language"),
      dry_run: z.boolean().default(false),
    }),
    output: ChangedFiles,
    errors: EDIT_ERRORS,
    examples: [
      {
        title: "Preview the change",
        input: { symbol_id: "sym:src/main.ts#answer", new_name: "reply", dry_run: true },
      },
    ],
    text: changesText,
    async run({ new_name, dry_run, ...input }, ctx) {
      const asked = await toSpot(code, input);
      checkIdentifier(asked.path, new_name);
      const found = await code.servers.find(asked.path);
      if (!("server" in found)) throw noServer(found.how);
      const client = createLanguageClient(found.server);
      ctx.backend(client.name);
      try {
        const spot = await toDefinition(code, client, asked, ctx.signal);
        const expected = code.sources.nameAt(spot);
        const propose = async () => {
          const proposed = await client.rename(spot, new_name, ctx.signal);
          if (proposed === undefined) throw noServer(`${client.name} cannot do it`);
          if (proposed === null)
            throw invalidArgument("new_name", "there is nothing at this place that can be renamed");
          return proposed;
        };
        const { proposed, note } = await proposeForAll(code, client, { spot, new_name }, propose, ctx.signal);
        const changed = await makeChanges(code, proposed, { dryRun: dry_run, expected }, ctx);
        return note === undefined ? changed : { ...changed, note };
      } catch (cause) {
        const trouble = found.server.running?.trouble();
        if (cause instanceof ServerRefused && trouble !== undefined)
          throw new ToolError("UPSTREAM_ERROR", cannotLoad(client.name, trouble), {}, { cause });
        if (cause instanceof ServerRefused) throw invalidArgument("new_name", cause.message);
        if (cause instanceof ServerUnavailable)
          throw new ToolError("UPSTREAM_ERROR", cause.message, {}, { cause });
        throw cause;
      }
    },
  });

/** Longer than for a question: no other backend can rename. */
const DEFINITION_MS = 25_000;

/** Renaming a symbol where it is imported would only add an alias there. */
async function toDefinition(
  code: Code,
  client: LanguageClient,
  spot: Spot,
  signal: AbortSignal,
): Promise<Spot> {
  const found = await client.definition(spot, signal, DEFINITION_MS);
  const [place] = found ?? [];
  if (!place || !code.workspace.confinement.roots.some((root) => isWithin(root, place.path))) return spot;
  const there = { path: place.path, position: place.range.start };
  // `export { a as b }`: the definition has another name, and the caller means this one.
  const { nameAt } = code.sources;
  return nameAt(there) === nameAt(spot) ? there : spot;
}

const noServer = (how: string) =>
  new ToolError(
    "UNSUPPORTED",
    `no language server can rename here, and by text it would not be safe; ${how}`,
    {
      what: "rename",
      how,
    },
  );
