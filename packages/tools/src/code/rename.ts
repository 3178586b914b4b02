import { action, ToolError } from "@octant/core";
import {
  createLanguageClient,
  EDIT_MS,
  editedPlaces,
  isWithin,
  type LanguageClient,
  pathToUri,
  ServerRefused,
  ServerUnavailable,
  type SourcePlace,
  type Spot,
} from "@octant/host";
import { z } from "zod";
import { ChangedFiles, makeChanges } from "./changed-files.ts";
import type { Code } from "./code.ts";
import { cannotLoad } from "./diagnostics.ts";
import { EDIT_ERRORS } from "./errors.ts";
import { checkIdentifier } from "./identifier.ts";
import { openUses } from "./open-uses.ts";
import { sortPlaces } from "./place.ts";
import { holds } from "./sources.ts";
import { SpotInput, toSpot } from "./spot.ts";
import { changesText } from "./text.ts";
import { wordAt } from "./words.ts";

const MAX_NAME_CHARS = 200;

export const rename = (code: Code) =>
  action({
    summary: "Rename a symbol everywhere, in all files or none.",
    access: "write",
    timing: "async_short",
    intent: "apply",
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
        await openUses(code, client, spot, ctx.signal);
        const proposed = await client.rename(spot, new_name, ctx.signal);
        if (proposed === undefined) throw noServer(`${client.name} cannot do it`);
        if (proposed === null) throw notRenamable("there is nothing at this place that can be renamed");
        const expected = nameAt(code, spot);
        const edited = editedPlaces(code.workspace.confinement, proposed);
        await checkComplete(code, client, spot, edited, ctx.signal);
        return await makeChanges(code, proposed, { dryRun: dry_run, expected }, ctx);
      } catch (cause) {
        const trouble = found.server.running()?.trouble();
        if (cause instanceof ServerRefused && trouble !== undefined)
          throw new ToolError("UPSTREAM_ERROR", cannotLoad(client.name, trouble), {}, { cause });
        if (cause instanceof ServerRefused) throw notRenamable(cause.message);
        if (cause instanceof ServerUnavailable)
          throw new ToolError("UPSTREAM_ERROR", cause.message, {}, { cause });
        throw cause;
      }
    },
  });

/** Renamed where it is imported, a symbol would only get a second name there. */
async function toDefinition(
  code: Code,
  client: LanguageClient,
  spot: Spot,
  signal: AbortSignal,
): Promise<Spot> {
  const found = await client.definition(spot, signal);
  const [place] = found ?? [];
  if (!place || !code.workspace.confinement.roots.some((root) => isWithin(root, place.path))) return spot;
  const there = { path: place.path, position: place.range.start };
  // `export { a as b }`: what is defined goes by another name here, and this name is what the caller means.
  return nameAt(code, there) === nameAt(code, spot) ? there : spot;
}

/** UPSTREAM_ERROR when the server itself knows uses of the name that the edit would leave as they are. */
async function checkComplete(
  code: Code,
  client: LanguageClient,
  spot: Spot,
  edited: readonly SourcePlace[],
  signal: AbortSignal,
): Promise<void> {
  const name = nameAt(code, spot);
  const uses = (await client.references(spot, signal, EDIT_MS)) ?? [];
  const { inside } = sortPlaces(code, uses);
  const left = inside.filter(
    (use) => !edited.some(({ path, range }) => path === use.path && holds(range, use.range.start)),
  );
  // By another name, as after `import { a as b }`, a use stays as it is.
  const missed = left.filter(({ path, range }) => nameAt(code, { path, position: range.start }) === name);
  if (missed.length === 0) return;
  const files = [...new Set(missed.map(({ path }) => pathToUri(path)))];
  const shown = files.slice(0, MAX_SHOWN_FILES).join(", ");
  const message = `${client.name} would leave ${missed.length} uses in ${shown} as they are, so nothing was renamed; try again, or edit by fs.apply_patch`;
  throw new ToolError("UPSTREAM_ERROR", message, {});
}

const MAX_SHOWN_FILES = 5;

const nameAt = ({ sources }: Code, { path, position }: Spot): string | undefined =>
  wordAt(sources.read(path).text, position)?.text;

const noServer = (how: string) =>
  new ToolError(
    "UNSUPPORTED",
    `no language server can rename here, and by text it would not be safe; ${how}`,
    {
      what: "rename",
      how,
    },
  );

const notRenamable = (message: string) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "new_name", message }] });
