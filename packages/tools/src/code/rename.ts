import { action, type Context, invalidArgument, ToolError } from "@octant/core";
import {
  createLanguageClient,
  editPlaces,
  isWithin,
  type LanguageClient,
  type Path,
  pathToUri,
  ServerRefused,
  ServerUnavailable,
  type Spot,
} from "@octant/host";
import { languageOf } from "@octant/search";
import { z } from "zod";
import { APPLY_SHORT } from "../kinds.ts";
import { toHidden } from "../searched.ts";
import { HEURISTIC } from "./backends/heuristic.ts";
import { TREE_SITTER } from "./backends/tree-sitter.ts";
import { type ApplyOptions, ChangedFiles, changesText, EDIT_ERRORS, makeChanges } from "./changed-files.ts";
import { type Code, cannotLoad } from "./code.ts";
import { filesOf } from "./cross-check.ts";
import { NewProblems, newProblemLines } from "./diagnostics-after-edit.ts";
import { checkIdentifier } from "./identifier.ts";
import { usesByName } from "./names.ts";
import { PositionInput, toPosition } from "./position-input.ts";
import { type Proposal, proposeForAll } from "./propose-for-all.ts";
import { wordsNamed } from "./words.ts";

const MAX_NAME_CHARS = 200;

export const rename = (code: Code) =>
  action({
    summary: "Rename a symbol everywhere, in all files or none.",
    ...APPLY_SHORT,
    unaskedIn: "edits",
    destructive: true,
    input: z.strictObject({
      ...PositionInput,
      new_name: z.string().min(1).max(MAX_NAME_CHARS).describe("An identifier of the language"),
      by: z
        .enum(["both", "server", "name"])
        .default("both")
        .describe(
          "both: refused unless server and name search agree; server: the uses it knows; name: every use of the name in code",
        ),
      dry_run: z.boolean().default(false),
    }),
    output: ChangedFiles.extend(NewProblems),
    errors: [...EDIT_ERRORS, "CONFIRM_REQUIRED"],
    examples: [
      {
        title: "Preview the change",
        input: { symbol_id: "sym:src/main.ts#answer", new_name: "reply", dry_run: true },
      },
    ],
    text(data, reader) {
      const shown = changesText(data, reader);
      const problems = newProblemLines(data, reader);
      return {
        ...shown,
        body: [shown.body, ...problems].join("\n"),
        notes: [...(shown.notes ?? []), data.note, data.diagnostics_note],
      };
    },
    async run({ new_name, dry_run, by, ...input }, ctx) {
      const asked = await toPosition(code, input);
      checkIdentifier(asked.path, new_name);
      if (by === "name") return renameByName(code, asked, new_name, dry_run, ctx);
      const found = await code.servers.find(asked.path);
      if (!("server" in found)) throw noServer(found.how);
      const client = createLanguageClient(found.server);
      ctx.backend(client.name);
      try {
        const spot = await toDefinition(code, client, asked, ctx.signal);
        const propose = async () => {
          const proposed = await client.rename(spot, new_name, ctx.signal);
          if (proposed === undefined) throw noServer(`${client.name} cannot do it`);
          if (proposed === null)
            throw invalidArgument("new_name", "there is nothing at this place that can be renamed");
          return proposed;
        };
        const renaming = { spot, new_name, isServerTrusted: by === "server" };
        const proposal = await proposeForAll(code, client, renaming, propose, ctx);
        const options = { dryRun: dry_run, expected: code.sources.nameAt(spot) };
        return await changeAndCheck(code, proposal, options, ctx);
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

/** Renames every use of the name in code of the language, without regard to the symbols. */
async function renameByName(code: Code, spot: Spot, new_name: string, dryRun: boolean, ctx: Context) {
  const { name, uses, unread } = await usesByName(code, spot, {
    signal: ctx.signal,
    isHidden: toHidden(ctx),
  });
  ctx.backend(languageOf(spot.path) ? TREE_SITTER : HEURISTIC);
  if (name === undefined) throw invalidArgument("position", "there is no name at this place");
  const files = filesOf(uses);
  const taken = files.filter((path) => isUsed(code, path, new_name));
  const note = [
    `renamed by name: every use of ${name} in code, of whatever symbol`,
    taken.length > 0 && `${new_name} was already used in ${taken.map(pathToUri).join(", ")}`,
    unread.length > 0 &&
      `not renamed in files that are too large or not text: ${unread.map(pathToUri).join(", ")}`,
  ];
  const proposal = { proposed: editPlaces(uses, new_name), files, note: note.filter(Boolean).join("; ") };
  return changeAndCheck(code, proposal, { dryRun, expected: name }, ctx);
}

function isUsed({ sources }: Code, path: Path, name: string): boolean {
  const source = sources.readIfThere(path);
  return source !== undefined && wordsNamed(source, name).length > 0;
}

/** Applies the change and lists the problems that are new since, in all files that use the name. */
async function changeAndCheck(
  code: Code,
  { proposed, files, note }: Proposal,
  options: ApplyOptions,
  ctx: Context,
) {
  const change = () => makeChanges(code, proposed, options, ctx);
  const noted = note === undefined ? {} : { note };
  if (options.dryRun) return { ...(await change()), ...noted };
  const after = await code.diagnosticsAfterEdit.around(files.map(pathToUri), change, ctx.signal, MAX_CHECKED);
  return {
    ...after.result,
    ...noted,
    ...(after.added && { diagnostics: after.added }),
    ...(after.note !== undefined && { diagnostics_note: after.note }),
  };
}

/** Files whose diagnostics are compared before and after. */
const MAX_CHECKED = 40;

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
    `no language server can rename here; ${how}; or pass by "name" to rename every use of the name in code`,
    {
      what: "rename",
      how,
    },
  );
