import type { StampedEvent } from "@octant/agent";
import {
  type AnyAction,
  action,
  type Context,
  defineTool,
  handle,
  invalidArgument,
  pagingInput,
  type Tool,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import { findProject, hasLabels, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { pageOf } from "../store/page-of.ts";
import { WorkspaceId } from "../workspaces/workspaces.ts";
import type { CallerCalls } from "./caller-tools.ts";
import type { CleanUp } from "./clean-up.ts";
import { describeEvent } from "./event-text.ts";
import { CallerTool, type HubSession, SESSION_STATES, SessionView } from "./hub-session.ts";
import type { HubSessions } from "./hub-sessions.ts";
import { readOrWait, readUntilIdle } from "./read-events.ts";
import type { HubLogs } from "./session-logs.ts";

export interface SessionToolOptions {
  readonly store: HubStore;
  readonly sessions: HubSessions;
  readonly logs: HubLogs;
  readonly cleanUp: CleanUp;
  /** The session for which this tool is made; what it spawns are its children. */
  readonly parent?: HubSession;
}

export const SessionId = handle("ses");
const One = z.strictObject({ session_id: SessionId });
const Message = z.string().min(1).max(1_000_000);
const Labels = z.record(z.string().max(64), z.string().max(256));
const DEFAULT_EVENTS = 100;
const MAX_EVENTS = 1_000;
const DEFAULT_LISTED = 100;
const MAX_LISTED = 1_000;
const MAX_WAIT_MS = 600_000;
const HOUR_MS = 3_600_000;
const DEFAULT_AGE_HOURS = 24;
const EXAMPLE_ID = "ses_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const EXAMPLE_PROJECT = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const READ = { access: "read", timing: "sync", intent: "inspect" } as const;
const WRITE = { access: "write", timing: "async_short", intent: "apply" } as const;

/** As the agent emits them. */
const Event = z.custom<StampedEvent>().meta({
  type: "object",
  description: "seq, type, at and the fields of the type; session_began without the prompt and the tools",
});
const EventPage = z.object({
  session_id: z.string(),
  state: z.enum(SESSION_STATES),
  outcome: z.string().optional(),
  problem: z.string().optional(),
  waiting: z.string().optional().describe("Why it does not work yet"),
  events: z.array(Event).readonly(),
  last_index: z.int().describe("Pass it as since_index to read on"),
});

/** Both are long, the same in all sessions, and of use to nobody who follows one. */
const withoutPrompt = (event: StampedEvent): StampedEvent =>
  event.type === "session_began" ? { ...event, system: "", tools: [] } : event;

export const sessionTool = ({ store, sessions, logs, cleanUp, parent }: SessionToolOptions) => {
  const projectOf = async ({ session_id }: { readonly session_id: string }) =>
    (await store.records<HubSession>("session").get(session_id))?.project_id;
  const spawn = async (project_id: string, given: Omit<Parameters<HubSessions["spawn"]>[1], "parent_id">) =>
    sessions.spawn(await findProject(store, project_id), { ...given, parent_id: parent?.id });

  // A model is not told the ids of its session and its project.
  const InProject = parent ? ProjectId.default(parent.project_id) : ProjectId;
  const OneOrOwn = parent ? z.strictObject({ session_id: SessionId.default(parent.id) }) : One;

  const limits = { parent, store };

  return limitTo(limits, {
    name: "session",
    summary: "Agents at work in a project: spawn them, send them messages, follow their events.",
    actions: {
      spawn: action({
        summary: "Start an agent on a task, in a workspace of its own unless one is given.",
        ...WRITE,
        openWorld: true,
        input: z.strictObject({
          project_id: InProject,
          message: Message.describe("The task"),
          workspace_id: WorkspaceId.optional(),
          model: z.string().min(1).max(200).optional(),
          labels: Labels.optional(),
          caller_tools: z
            .array(CallerTool)
            .max(64)
            .optional()
            .describe("Tools whose calls you answer with caller_tool_response"),
        }),
        output: SessionView,
        errors: ["NOT_FOUND", "LIMIT_EXCEEDED", "VCS_ERROR"],
        examples: [
          {
            title: "Fix a test",
            input: { project_id: EXAMPLE_PROJECT, message: "Make npm test pass." },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: ({ project_id }) => project_id,
        run: async ({ project_id, ...given }) => sessions.view(await spawn(project_id, given)),
      }),
      message: action({
        summary:
          "Send a message to a session, or to the newest one of a project that has not ended; spawns one when there is none.",
        ...WRITE,
        openWorld: true,
        input: z.strictObject({
          session_id: SessionId.optional(),
          project_id: ProjectId.optional(),
          message: Message,
        }),
        output: SessionView.extend({ spawned: z.boolean() }),
        errors: ["NOT_FOUND", "LOCKED", "LIMIT_EXCEEDED"],
        examples: [
          {
            title: "Go on",
            input: { session_id: EXAMPLE_ID, message: "Also update the docs." },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: ({ session_id, project_id }) =>
          session_id === undefined ? project_id : projectOf({ session_id }),
        async run({ session_id, project_id, message }) {
          if (session_id !== undefined)
            return { ...sessions.view(await sessions.message(session_id, message)), spawned: false };
          if (project_id === undefined) throw invalidArgument("session_id", "give session_id or project_id");
          await findProject(store, project_id);
          const open = (await sessions.list(project_id)).find(
            ({ state, depth }) => state !== "ended" && depth === 0,
          );
          if (open) return { ...sessions.view(await sessions.message(open.id, message)), spawned: false };
          return { ...sessions.view(await spawn(project_id, { message })), spawned: true };
        },
      }),
      get: action({
        summary: "One session and its children.",
        ...READ,
        input: OneOrOwn,
        output: SessionView.extend({ children: z.array(z.string()).readonly() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { session_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ session_id }) {
          const session = await sessions.find(session_id);
          const tree = await sessions.treeOf(session);
          return {
            ...sessions.view(session),
            children: tree.filter((one) => one.parent_id === session_id).map(({ id }) => id),
          };
        },
      }),
      list: action({
        summary: "The sessions of a project, newest first.",
        ...READ,
        input: z.strictObject({
          project_id: InProject,
          state: z.enum(SESSION_STATES).optional(),
          labels: Labels.optional(),
          workspace_id: WorkspaceId.optional(),
          parent_id: SessionId.optional().describe("Only those that this session spawned"),
          ...pagingInput(DEFAULT_LISTED, MAX_LISTED),
        }),
        output: z.object({ sessions: z.array(SessionView).readonly(), total: z.int() }),
        errors: ["NOT_FOUND"],
        examples: [
          {
            title: "At work",
            input: { project_id: EXAMPLE_PROJECT, state: "working" },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id, labels, limit, ...wanted }, ctx) {
          await findProject(store, project_id);
          const fits = (session: HubSession) =>
            (["state", "workspace_id", "parent_id"] as const).every(
              (field) => wanted[field] === undefined || session[field] === wanted[field],
            ) && hasLabels(session.labels, labels);
          const found = (await sessions.list(project_id)).filter(fits);
          return { sessions: pageOf(found, limit, ctx).map(sessions.view), total: found.length };
        },
      }),
      end: action({
        summary: "Stop a session for good; its workspace and its events remain.",
        ...WRITE,
        input: One,
        output: SessionView,
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { session_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        run: async ({ session_id }) => sessions.view(await sessions.end(session_id)),
      }),
      events: action({
        summary:
          "The events of a session after an index, oldest first; waits for the next one, or for the end of its work.",
        ...READ,
        input: One.extend({
          since_index: z.int().min(0).default(0),
          max_events: z.int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS),
          wait: z
            .int()
            .min(0)
            .max(MAX_WAIT_MS)
            .default(0)
            .describe("Milliseconds; many clients give up after 60,000 unless they get progress"),
          until: z
            .enum(["event", "idle"])
            .default("event")
            .describe("What it waits for; with idle each event is also reported as progress"),
        }),
        output: EventPage,
        errors: ["NOT_FOUND"],
        examples: [{ title: "From the beginning", input: { session_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ session_id, since_index, max_events, wait, until }, { signal, progress }) {
          await sessions.find(session_id);
          const page = { since_index, max_events, wait };
          const events =
            until === "event"
              ? await readOrWait(logs, session_id, page, signal)
              : await readUntilIdle({ logs, sessions }, session_id, page, { signal, progress });
          const { state, outcome, problem, waiting } = await sessions.find(session_id);
          return {
            session_id,
            state,
            ...(outcome !== undefined && { outcome }),
            ...(problem !== undefined && { problem }),
            ...(waiting !== undefined && { waiting }),
            events: events.map(withoutPrompt),
            last_index: events.at(-1)?.seq ?? since_index,
          };
        },
        text: ({ state, outcome, problem, waiting, events, last_index }) => ({
          body: events
            .map(describeEvent)
            .filter((line) => line !== "")
            .join("\n"),
          notes: [outcome === undefined ? state : `${state}, ${outcome}`, problem, waiting],
          handles: { since_index: last_index },
        }),
      }),
      fork: action({
        summary: "Copy a session up to an event into a new, idle one, with a workspace of its own.",
        ...WRITE,
        input: OneOrOwn.extend({
          index: z.int().min(1).optional().describe("The last event of the copy; all when absent"),
          same_workspace: z.boolean().default(false).describe("Works in the workspace of the original"),
        }),
        output: SessionView,
        errors: ["NOT_FOUND", "CONFLICT", "LIMIT_EXCEEDED", "VCS_ERROR"],
        examples: [{ title: "The whole session", input: { session_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        run: async ({ session_id, ...how }) =>
          sessions.view(await sessions.fork(session_id, { ...how, parent })),
      }),
      cleanup: action({
        summary:
          "Delete sessions of a project that nobody used for some time, with their events and the workspaces that hold nothing unmerged.",
        ...WRITE,
        destructive: true,
        input: z.strictObject({
          project_id: ProjectId,
          max_age_hours: z.number().min(0).max(87_600).default(DEFAULT_AGE_HOURS),
          idle: z.boolean().default(false).describe("Also sessions that have not ended, but are not at work"),
          force: z.boolean().default(false).describe("Also deletes commits that exist nowhere else"),
        }),
        output: z.object({
          deleted: z.array(z.string()).readonly(),
          deleted_workspaces: z.array(z.string()).readonly(),
          kept_workspaces: z
            .array(z.object({ workspace_id: z.string(), reason: z.string() }))
            .readonly()
            .describe("They hold work that exists nowhere else"),
        }),
        errors: ["NOT_FOUND", "VCS_ERROR"],
        examples: [
          {
            title: "Of last week",
            input: { project_id: EXAMPLE_PROJECT, max_age_hours: 168 },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id, max_age_hours, idle, force }) {
          const before = Date.now() - max_age_hours * HOUR_MS;
          return cleanUp(await findProject(store, project_id), { before, idle, force });
        },
      }),
    },
  });
};

/**
 * For a session, nothing exists outside of its own project. What its model was made to believe must not reach the other
 * sessions there: it sends messages to those of its tree alone, ends those that it spawned, and deletes none.
 */
const limitTo = (
  { parent, store }: Pick<SessionToolOptions, "parent" | "store">,
  tool: Tool<"session", Record<string, AnyAction>>,
): Tool<"session", Record<string, AnyAction>> => {
  if (!parent) return tool;
  const refuse = async (name: string, { session_id = "" }: { readonly session_id?: string }) => {
    const one = await store.records<HubSession>("session").get(session_id);
    const isOfTree = one?.root_id === parent.root_id;
    if (name === "message" && !isOfTree)
      throw notYours("a session sends messages to the sessions of its own tree only");
    if (name === "end" && !(isOfTree && one.depth > parent.depth))
      throw notYours("a session ends only sessions that it spawned");
  };
  const { cleanup: _cleanup, ...actions } = tool.actions;
  const limited = Object.entries(actions).map(([name, act]) => [
    name,
    {
      ...act,
      async run(input: { readonly session_id?: string }, ctx: Context) {
        const touched = await act.projectOf?.(input);
        if (touched !== undefined && touched !== parent.project_id)
          throw new ToolError("NOT_FOUND", "the project of this session has nothing of this id", {});
        if (act.access !== "read") await refuse(name, input);
        return act.run(input, ctx);
      },
    },
  ]);
  return { ...tool, actions: Object.fromEntries(limited) };
};

const notYours = (reason: string) =>
  new ToolError("PERMISSION_DENIED", `${reason}; session.list with parent_id shows those`, {
    by: "session",
    rule: reason,
  });

/** Answers a call of one of the caller's own tools. */
export const callerToolResponse = (calls: CallerCalls, store: HubStore) =>
  defineTool({
    name: "caller_tool_response",
    summary: "Answer a session's call of one of your own tools.",
    actions: {
      respond: action({
        summary:
          "Give the result, or the error, of the call that an event of type mark, caller_tool_request, asks for.",
        access: "write",
        timing: "sync",
        intent: "apply",
        input: z.strictObject({
          session_id: SessionId,
          request_id: handle("request"),
          result: z.unknown().optional(),
          error: z.string().min(1).max(10_000).optional(),
        }),
        output: z.object({ accepted: z.literal(true) }),
        errors: ["NOT_FOUND"],
        examples: [
          {
            title: "A result",
            input: {
              session_id: EXAMPLE_ID,
              request_id: "request_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07",
              result: { ok: true },
            },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: async ({ session_id }) =>
          (await store.records<HubSession>("session").get(session_id))?.project_id,
        run({ session_id, request_id, result, error }) {
          if (result !== undefined && error !== undefined)
            throw invalidArgument("error", "give a result or an error, not both");
          const response = error === undefined ? { result: result ?? null } : { error };
          if (calls.respond(session_id, request_id, response)) return { accepted: true as const };
          const message =
            "no call with this id waits: it was answered, it timed out, or the hub was restarted";
          throw new ToolError("NOT_FOUND", message, { id: request_id });
        },
      }),
    },
  });
