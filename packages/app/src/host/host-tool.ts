import { randomUUID } from "node:crypto";
import type { MemberPlan, ToolHost } from "@octant/agent";
import {
  action,
  type Context,
  createToText,
  defineTool,
  type Envelope,
  JobId,
  ownAction,
  type Question,
  TIMINGS,
  ToolError,
} from "@octant/core";
import { PermissionRule } from "@octant/runtime";
import { z } from "zod";
import { createPlaces, type OpenedPlace, openTurn } from "./places.ts";

/** The name under which a server answers sessions of other processes. It is on no list of tools. */
export const HOST = "host";

/** The options of a session's place; they never widen what the server offers. */
const PlaceRequest = z.object({
  /** Rules that the person allowed for this run. */
  allow: z.array(PermissionRule).default([]),
  /** Only these tools. */
  tools: z.array(z.string()).optional(),
});
export type PlaceRequest = z.output<typeof PlaceRequest>;

export interface HostSources {
  /** A workspace with the tools and the policy of an agent. */
  openPlace(request: PlaceRequest): Promise<OpenedPlace>;
}

const MAX_WAIT_MS = 50_000;
const MAX_PLANS = 32;
const PlaceId = z.string().min(1).max(128);
const TurnName = z.string().min(1).max(128);
const Turn = z.object({
  id: z.int(),
  at: z.string(),
  label: z.string(),
  session_id: z.string().nullable(),
  before: z.int(),
  after: z.int().nullable(),
  undone: z.boolean(),
});
const Direction = z.enum(["undo", "redo"]);
const Overwrite = z.boolean();

/** The actions that a session in another process needs, besides those of `edge`. */
export function hostTool({ openPlace }: HostSources) {
  const { find, planOf, hold } = createPlaces();
  return defineTool({
    name: HOST,
    summary: "The place where the tools of a session in another process run.",
    actions: {
      open: request("Open a place, until cancelled.", "write", {
        input: z.strictObject({ place: PlaceId, ...PlaceRequest.shape }),
        run: ({ place, ...wanted }, ctx) => hold(place, () => openPlace(wanted), ctx),
      }),
      open_member: request("Open the place of a sub-agent, until cancelled.", "read", {
        input: z.strictObject({ place: PlaceId, parent_place: PlaceId, plan: z.looseObject({}) }),
        run: ({ place, parent_place, plan }, ctx) =>
          hold(
            place,
            async () => {
              const { members, questions } = await find(parent_place);
              // The client's own crew made the plan; its worktree and names are all that is used here.
              const member = await members.open(plan as unknown as MemberPlan);
              return { host: member.host, members, questions, member, close: () => member.close() };
            },
            ctx,
          ),
      }),
      about: request("The folders and tools of a place.", "read", {
        input: z.strictObject({ place: PlaceId }),
        async run({ place }) {
          const { host, member } = await find(place);
          const { toListedDeclaration } = await import("@octant/wire/stream");
          return {
            roots: host.roots,
            declarations: host.registry.list().map(toListedDeclaration),
            has_worktree: member?.finish !== undefined,
            markdown: { commands: host.markdown("commands"), roles: host.markdown("roles") },
          };
        },
      }),
      context: request("The project as the system prompt describes it.", "read", {
        input: z.strictObject({ place: PlaceId }),
        run: async ({ place }) => (await find(place)).host.context(),
      }),
      call: request("Run a call under the policy of the place.", "read", {
        input: z.strictObject({
          place: PlaceId,
          epoch: z.string(),
          tool: z.string(),
          action: z.unknown(),
          input: z.unknown(),
          timing_hint: z.enum(TIMINGS).optional(),
          key: z.string().optional(),
        }),
        async run({ place, epoch, timing_hint: timingHint, key, ...call }, ctx) {
          const { host, epoch: now } = await find(place);
          const tool = host.registry.get(call.tool);
          const access = tool && ownAction(tool, String(call.action))?.access;
          // Reading again is harmless, a second change is not.
          if (epoch !== now && access !== "read")
            throw new ToolError(
              "INTERRUPTED",
              "the host was restarted during the call; check what it did before you call again",
              {},
            );
          const { caller, signal, progress: onProgress, front: ask } = ctx;
          const { envelope, attachments } = await host.dispatch(call, {
            caller,
            signal,
            onProgress,
            ask,
            ...(timingHint && { timingHint }),
            ...(key !== undefined && { key }),
          });
          for (const one of attachments) ctx.attach(one);
          return { envelope, text: toText(host, envelope) };
        },
      }),
      job: request("Wait for the end of a job, and its result.", "read", {
        input: z.strictObject({
          place: PlaceId,
          job_id: JobId,
          wait: z.int().min(0).max(MAX_WAIT_MS),
        }),
        async run({ place, job_id, wait }, { caller, signal }) {
          const { host } = await find(place);
          if (wait > 0) await host.jobs.ended(caller.id, job_id, wait, signal);
          const envelope = await host.jobs.result(caller.id, job_id);
          return envelope ? { envelope, text: toText(host, envelope) } : {};
        },
      }),
      questions: request("Forward the questions of a job to the person, until it has ended.", "read", {
        input: z.strictObject({ place: PlaceId, job_id: JobId }),
        async run({ place, job_id }, { caller, signal, front: ask }) {
          const { host, questions } = await find(place);
          const isOwn = (one: Question) => one.job_id === job_id && one.caller === caller.id;
          const leave = ask && questions.follow({ ask, matches: isOwn });
          try {
            while (!(await host.jobs.result(caller.id, job_id))) {
              signal.throwIfAborted();
              await host.jobs.ended(caller.id, job_id, MAX_WAIT_MS, signal);
            }
            return {};
          } finally {
            leave?.();
          }
        },
      }),
      cancel: request("Cancel a job.", "read", {
        input: z.strictObject({ place: PlaceId, job_id: JobId }),
        async run({ place, job_id }, { caller }) {
          await (await find(place)).host.jobs.cancel(caller.id, job_id);
          return {};
        },
      }),
      open_turn: request("Open a turn of an agent.", "write", {
        input: z.strictObject({ place: PlaceId, turn: TurnName, label: z.string(), session_id: z.string() }),
        async run({ place, turn, ...wanted }) {
          const { host, turns } = await find(place);
          const opened = await openTurn(host, wanted);
          if (opened) turns.set(turn, opened);
          return { is_open: opened !== undefined };
        },
      }),
      turn_begun: request("Wait until a turn has begun, or ended before that.", "read", {
        input: z.strictObject({ place: PlaceId, turn: TurnName }),
        run: async ({ place, turn }) => ({ id: (await (await find(place)).turns.get(turn)?.begun) ?? null }),
      }),
      end_turn: request("End a turn of an agent.", "write", {
        input: z.strictObject({ place: PlaceId, turn: TurnName }),
        async run({ place, turn }) {
          const { turns } = await find(place);
          await turns.get(turn)?.end();
          turns.delete(turn);
          return {};
        },
      }),
      turns: request("The turns of the workspace, newest first.", "read", {
        input: z.strictObject({
          place: PlaceId,
          session_id: z.string().optional(),
          limit: z.int().optional(),
        }),
        async run({ place, session_id, limit }) {
          const filter = { session_id, ...(limit !== undefined && { limit }) };
          return { turns: await (await find(place)).host.turns.list(filter) };
        },
      }),
      plan: request("Plan the undo or redo of a turn.", "read", {
        input: z.strictObject({ place: PlaceId, turn: Turn, direction: Direction }),
        async run({ place, turn, direction }) {
          const { host, plans } = await find(place);
          const plan = await host.turns.plan(turn, direction);
          const plan_id = randomUUID();
          plans.set(plan_id, plan);
          for (const old of [...plans.keys()].slice(0, -MAX_PLANS)) plans.delete(old);
          const { diff: _diff, apply: _apply, ...facts } = plan;
          return { plan_id, facts };
        },
      }),
      edit_diff: request("The diff of an edit, by its undo ref.", "read", {
        input: z.strictObject({ place: PlaceId, undo_ref: z.string() }),
        run: async ({ place, undo_ref }) => ({
          diff: (await (await find(place)).host.diffOf?.(undo_ref)) ?? "",
        }),
      }),
      diff: request("The diff of a planned undo or redo.", "read", {
        input: z.strictObject({
          place: PlaceId,
          plan_id: z.string(),
          overwrite: Overwrite,
          only: z.literal("conflicts").optional(),
        }),
        run: async ({ place, plan_id, overwrite, only }) => ({
          diff: await (await planOf(place, plan_id)).diff({ overwrite, ...(only && { only }) }),
        }),
      }),
      apply: request("Carry out a planned undo or redo.", "write", {
        input: z.strictObject({ place: PlaceId, plan_id: z.string(), overwrite: Overwrite }),
        async run({ place, plan_id, overwrite }) {
          await (await planOf(place, plan_id)).apply({ overwrite });
          return {};
        },
      }),
      join: request("Apply the restrictions of a sub-agent's parent to a caller.", "read", {
        input: z.strictObject({ place: PlaceId, caller: z.string() }),
        async run({ place, caller }) {
          await (await find(place)).member?.join(caller);
          return {};
        },
      }),
      finish: request("Commit and merge the worktree of a sub-agent.", "write", {
        input: z.strictObject({ place: PlaceId, is_done: z.boolean() }),
        run: async ({ place, is_done }) => ({ outcome: await (await find(place)).member?.finish?.(is_done) }),
      }),
    },
  });
}

const toText = ({ registry, roots }: ToolHost, envelope: Envelope): string =>
  createToText(registry, roots)(envelope);

interface Request<I extends z.ZodType> {
  readonly input: I;
  run(input: z.output<I>, ctx: Context): unknown;
}

const request = <I extends z.ZodObject>(
  summary: string,
  access: "read" | "write",
  { input, run }: Request<I>,
) =>
  action({
    summary,
    access,
    timing: "sync",
    intent: "inspect",
    input,
    output: z.unknown(),
    errors: ["NOT_FOUND", "INTERRUPTED"],
    // Only programs call it, with the id of a place that they opened.
    examples: [{ title: summary, input: {} as z.input<I> }],
    run,
  });
