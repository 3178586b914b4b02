import type { StampedEvent } from "@octant/agent";
import { action, pagingInput, ToolError } from "@octant/core";
import type { ChainRecord } from "@octant/runtime";
import { z } from "zod";
import { openSessions } from "../agent/sessions.ts";
import { loadRecords } from "./audit-actions.ts";
import { CHANGE, READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { EditRow, FileChanges, SessionId } from "./shapes.ts";

/** The newest sessions whose logs are read. */
const MAX_SESSIONS = 50;
const MAX_DIFF_CHARS = 100_000;

export const edits = ({ octant }: ConsoleParts) =>
  action({
    summary: "List the calls that changed files, newest first, by whom.",
    ...READ,
    input: z.strictObject({
      file: z.string().optional().describe("Only of this path or a part of it"),
      ...pagingInput(100, 1_000),
    }),
    output: z.object({
      edits: z.array(EditRow),
      names_files: z
        .boolean()
        .describe(
          'false: edits of callers without a session have no file names, unless audit.arguments is set to "full"',
        ),
    }),
    errors: ["INVALID_CURSOR"],
    examples: [{ title: "All of them", input: {} }],
    async run({ file, limit }, ctx) {
      const from = ctx.resume(z.int()) ?? 0;
      const ofSessions = await loadSessionEdits(octant);
      const sessions = new Set(ofSessions.map(({ session }) => session));
      const ofOthers = loadRecords(octant)
        .records.filter((record) => record.kind === "call" && EDITS.has(record.action))
        .map(toEdit)
        .filter(({ caller }) => !sessions.has(caller));
      const found = [...ofSessions, ...ofOthers]
        .filter(({ files }) => file === undefined || files.some((one) => one.includes(file)))
        .sort((a, b) => (a.time < b.time ? 1 : -1));
      if (from + limit < found.length) ctx.more(from + limit);
      const names_files = octant.config.settings.audit.arguments === "full";
      return { edits: found.slice(from, from + limit), names_files };
    },
  });

export const revert = ({ octant }: ConsoleParts) =>
  action({
    summary: "Take back one edit of a session; without `apply` it only shows the diff.",
    ...CHANGE,
    destructive: true,
    input: z.strictObject({
      session_id: SessionId,
      seq: z.int().describe("As in console.edits"),
      apply: z.boolean().default(false),
    }),
    output: FileChanges,
    errors: ["NOT_FOUND", "CONFLICT", "LOCKED", "UNSUPPORTED"],
    examples: [{ title: "Look first", input: { session_id: "session_01", seq: 5 }, fails: "NOT_FOUND" }],
    async run({ session_id, seq, apply }, { signal }) {
      const store = openSessions(octant.workspace);
      const events = await Array.fromAsync(store.events(await store.resolve(session_id)));
      const event = events.find((one) => one.seq === seq);
      const undo = event?.type === "tool_ended" ? event.facts?.undo_ref : undefined;
      if (undo === undefined)
        throw new ToolError(
          "NOT_FOUND",
          `event ${seq} of this session is not an edit that can be undone`,
          {},
        );
      // The person decides here, so rules for callers do not apply.
      const { files, diff = "" } = await octant.workspace.edits.apply(
        { patch: undo, dry_run: !apply },
        signal,
      );
      return {
        applied: apply,
        diff,
        restored: files.map(({ uri }) => ({ path: uri, change: "restored" as const })),
        merged: [],
        conflicts: [],
        notes: [],
      };
    },
  });

/** The calls that change files by name. */
const EDITS: ReadonlySet<string> = new Set([
  "fs.write",
  "fs.apply_patch",
  "fs.rm",
  "fs.mkdir",
  "code.rename",
  "code.apply_action",
  "turn.undo",
  "turn.redo",
]);

type Edit = z.output<typeof EditRow>;

async function loadSessionEdits({ workspace }: ConsoleParts["octant"]): Promise<readonly Edit[]> {
  const store = openSessions(workspace);
  const found: Edit[] = [];
  for (const { session_id, problem, title } of (await store.list()).slice(0, MAX_SESSIONS)) {
    if (problem !== null) continue;
    /** The names of the calls, such as `fs.write`. */
    const names = new Map<string, string>();
    for await (const event of store.events(session_id)) {
      if (event.type === "tool_began")
        names.set(event.call_id, [event.name, Object(event.input).action].filter(Boolean).join("."));
      found.push(...toSessionEdit(event, names, title));
    }
  }
  return found;
}

function toSessionEdit(
  event: StampedEvent,
  names: ReadonlyMap<string, string>,
  session_title: string,
): readonly Edit[] {
  if (event.type !== "tool_ended" || !event.facts?.changed?.length) return [];
  const { at, session_id, seq, name, code = "OK" } = event;
  const { changed, diff, undo_ref } = event.facts;
  return [
    {
      time: at,
      trace: "",
      action: names.get(event.call_id) ?? name,
      caller: session_id,
      session: session_id,
      session_title,
      code,
      files: changed.map(({ path }) => path),
      seq,
      ...(diff !== undefined && { diff: diff.slice(0, MAX_DIFF_CHARS).toWellFormed() }),
      can_revert: undo_ref !== undefined,
    },
  ];
}

function toEdit(record: ChainRecord): Edit {
  // The filter before has left calls only.
  const { time, trace, action: name, caller, session, code, arguments: input } = record as CallRecord;
  return { time, trace, action: name, caller, session, code, files: filesIn(input), can_revert: false };
}

type CallRecord = Extract<ChainRecord, { readonly kind: "call" }>;

function filesIn(input: unknown): string[] {
  const { uri, files, patch } = Object(input);
  const named = [uri, ...(Array.isArray(files) ? files : [])].filter((one) => typeof one === "string");
  const patched = typeof patch === "string" ? [...patch.matchAll(PATCHED)].map(([, path = ""]) => path) : [];
  return [...new Set([...named, ...patched])];
}

/** The headers of a unified diff, and of the patch format of agents. */
const PATCHED = /^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update|Delete) File: )(?!\/dev\/null)(\S.*)$/gm;
