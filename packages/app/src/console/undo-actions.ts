import type { HostTurns, PlannedUndo } from "@octant/agent";
import { action, ToolError } from "@octant/core";
import { z } from "zod";
import { openSessions } from "../agent/sessions.ts";
import { listPrompts, rewindFiles } from "../agent/turns.ts";
import { createTurns, notesOn, planTurnById } from "../agent/undo.ts";
import { CHANGE, READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { FileChanges, SessionId, UndoableTurn } from "./shapes.ts";

const MAX_TURNS = 500;

export const turns = ({ octant }: ConsoleParts) =>
  action({
    summary: "List the turns whose file changes can be undone, newest first.",
    ...READ,
    input: z.strictObject({
      session_id: z.string().optional().describe("Only of this session"),
      limit: z.int().min(1).max(MAX_TURNS).default(50),
    }),
    output: z.object({ turns: z.array(UndoableTurn) }),
    examples: [{ title: "All of them", input: {} }],
    async run({ session_id, limit }) {
      const found = await createTurns(octant).list({ session_id, limit });
      return {
        turns: found.map(({ id, at, label, session_id: whose, undone }) => ({
          turn: id,
          at,
          label,
          session_id: whose,
          undone,
        })),
      };
    },
  });

export const undo = ({ octant }: ConsoleParts) =>
  action({
    summary: "Undo or redo the file changes of a turn; without `apply` it only shows the diff.",
    ...CHANGE,
    destructive: true,
    input: z.strictObject({
      turn: z.int(),
      direction: z.enum(["undo", "redo"]).default("undo"),
      apply: z.boolean().default(false),
      overwrite: z
        .boolean()
        .default(false)
        .describe("Also files that others changed, or may have changed while a command ran"),
    }),
    output: FileChanges,
    errors: ["NOT_FOUND", "CONFLICT", "LOCKED"],
    examples: [{ title: "Look first", input: { turn: 1 }, fails: "NOT_FOUND" }],
    async run({ turn: id, direction, apply, overwrite }) {
      const all = createTurns(octant);
      const plan = await planTurnById(all, direction, id);
      const diff = apply ? "" : await plan.diff({ overwrite });
      if (apply) await plan.apply({ overwrite });
      return { applied: apply, diff, ...toChanges(plan) };
    },
  });

export const rewind = ({ octant }: ConsoleParts) =>
  action({
    summary:
      "Take back the file changes since a message of a session; without `apply` it only shows the diffs.",
    ...CHANGE,
    destructive: true,
    input: z.strictObject({
      session_id: SessionId,
      seq: z.int().describe("The number of the message, as in `checkpoints` of a transcript"),
      apply: z.boolean().default(false),
    }),
    output: FileChanges.extend({
      text: z.string().describe("The message, to be edited and sent again"),
    }),
    errors: ["NOT_FOUND", "LOCKED", "CONFLICT"],
    examples: [{ title: "Look first", input: { session_id: "session_01", seq: 2 }, fails: "NOT_FOUND" }],
    async run({ session_id: given, seq, apply }) {
      const store = openSessions(octant.workspace);
      const session_id = await store.resolve(given);
      const prompts = listPrompts(await Array.fromAsync(store.events(session_id)));
      const prompt = prompts.find((one) => one.seq === seq);
      if (!prompt) throw new ToolError("NOT_FOUND", `event ${seq} is not a message of the person`, {});
      if (octant.sessions.get(session_id)?.isRunning)
        throw new ToolError("LOCKED", "the session is working; stop it first", {});
      const all = createTurns(octant);
      const { text } = prompt;
      if (!apply) return { text, applied: false, ...(await previewRewind(all, prompt.turns)) };
      const { restored, merged, changed, doubtful, notes } = await rewindFiles(all, prompt.turns);
      return {
        text,
        applied: true,
        diff: "",
        restored: restored.map((path) => ({ path, change: "restored" as const })),
        merged: [...merged],
        conflicts: [...new Set([...changed, ...doubtful.flatMap(({ paths }) => paths)])],
        notes: [...notes, ...doubtful.map(({ turn, paths }) => noteOnDoubtful(turn, paths))],
      };
    },
  });

/** The diffs of the turns, newest first: each is what undoing that turn changes. */
async function previewRewind(all: HostTurns, ids: readonly number[]) {
  const plans = [];
  for (const id of ids) {
    const turn = (await all.list({ limit: MAX_TURNS })).find((one) => one.id === id);
    if (turn && !turn.undone) plans.push(await all.plan(turn, "undo"));
  }
  const diffs = await Promise.all(plans.map((plan) => plan.diff({ overwrite: false })));
  const changes = plans.map(toChanges);
  return {
    diff: diffs.filter(Boolean).join("\n"),
    restored: changes.flatMap(({ restored }) => restored),
    merged: changes.flatMap(({ merged }) => merged),
    conflicts: changes.flatMap(({ conflicts }) => conflicts),
    notes: changes.flatMap(({ notes }) => notes),
  };
}

const toChanges = (plan: PlannedUndo) => ({
  restored: plan.restored.map((one) => ({ ...one })),
  merged: [...plan.merged],
  conflicts: [...plan.conflicts],
  notes: [
    ...notesOn(plan),
    ...(plan.doubtful.length > 0 ? [noteOnDoubtful(plan.turn.id, plan.doubtful)] : []),
  ],
});

const noteOnDoubtful = (turn: number, paths: readonly string[]) =>
  `a command, or you while it ran, changed ${paths.join(", ")}: left alone; an undo of turn ${turn} that overwrites takes them back too`;
