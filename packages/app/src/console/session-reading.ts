import { textOf } from "@octant/agent";
import { action, pagingInput } from "@octant/core";
import { z } from "zod";
import { openSessions } from "../agent/sessions.ts";
import { listPrompts } from "../agent/turns.ts";
import { createTurns } from "../agent/undo.ts";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { Checkpoint, SessionEvent, SessionId, SessionRow } from "./shapes.ts";

const MAX_TURNS = 500;
const MAX_PROMPT_CHARS = 200;

export const sessions = ({ octant }: ConsoleParts) =>
  action({
    summary: "List the agent's sessions of this workspace, newest first.",
    ...READ,
    input: z.strictObject({ ...pagingInput(100, 1_000) }),
    output: z.object({ sessions: z.array(SessionRow), total: z.int() }),
    errors: ["INVALID_CURSOR"],
    examples: [{ title: "The newest", input: {} }],
    async run({ limit }, ctx) {
      const from = ctx.resume(z.int()) ?? 0;
      const all = await openSessions(octant.workspace).list();
      if (from + limit < all.length) ctx.more(from + limit);
      const page = all.slice(from, from + limit).map(({ usage: _usage, changed_files, ...info }) => ({
        ...info,
        changed_files: [...changed_files],
        open_here: octant.sessions.get(info.session_id) !== undefined,
      }));
      return { sessions: page, total: all.length };
    },
  });

export const transcript = ({ octant }: ConsoleParts) =>
  action({
    summary: "Read the stored events of a session, oldest first, and the messages that it can be rewound to.",
    ...READ,
    input: z.strictObject({
      session_id: SessionId,
      after: z.int().min(0).default(0).describe("The number of the last known event"),
      limit: z.int().min(1).max(5_000).default(1_000),
    }),
    output: z.object({
      session_id: z.string(),
      events: z.array(SessionEvent),
      more: z.boolean(),
      checkpoints: z.array(Checkpoint).describe("Oldest first"),
      open_here: z.boolean(),
      queued: z.array(z.string()).describe("Messages that it reads at its next step, oldest first"),
    }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "A session", input: { session_id: "session_01" }, fails: "NOT_FOUND" }],
    async run({ session_id: given, after, limit }) {
      const store = openSessions(octant.workspace);
      const session_id = await store.resolve(given);
      const all = await Array.fromAsync(store.events(session_id));
      const changes = await createTurns(octant).list({ limit: MAX_TURNS });
      const undone = new Set(changes.filter((turn) => turn.undone).map(({ id }) => id));
      const rest = all.filter(({ seq }) => seq > after);
      return {
        session_id,
        events: rest.slice(0, limit).map((event) => ({ ...event })),
        more: rest.length > limit,
        checkpoints: listPrompts(all).map(({ seq, text, turns }) => ({
          seq,
          text: text.slice(0, MAX_PROMPT_CHARS).toWellFormed(),
          turns: turns.filter((id) => !undone.has(id)).length,
        })),
        open_here: octant.sessions.get(session_id) !== undefined,
        queued: octant.sessions.get(session_id)?.queued.map(textOf) ?? [],
      };
    },
  });
