import { LogSessionStore } from "@octant/agent";
import { newHandle, type Tool, ToolError } from "@octant/core";
import { keepEvent, publishKept } from "../lifecycle/kept-events.ts";
import type { LifecycleEvent, LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import { findProject, type Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";
import { createBudgets } from "./budgets.ts";
import { type CallerCalls, checkCallerTools } from "./caller-tools.ts";
import { type CallerTool, type HubSession, type SessionView, toSessionView } from "./hub-session.ts";
import { createPendingMessages, hasEnded } from "./pending-messages.ts";
import type { HubLogs } from "./session-logs.ts";
import { createSessionRuns, type RunsOptions } from "./session-runs.ts";

export interface HubSessionsOptions extends Pick<RunsOptions, "containers" | "prepare" | "startsAtOnce"> {
  readonly store: HubStore;
  readonly logs: HubLogs;
  readonly workspaces: Workspaces;
  readonly calls: CallerCalls;
  readonly lifecycle: LifecycleTopic;
  /** Contains the API keys of the providers, which stay in the hub. */
  readonly env: NodeJS.ProcessEnv;
  /** Writes the settings that the tools in the project's container read when they start. */
  writeSettings(project: Project): void;
  /** Further tools of a session, which run in the hub. */
  toolsOf(session: HubSession): readonly Tool[];
  now(): number;
  /** Resolves when webhooks have all events so far. */
  eventsStored(): Promise<void>;
  log(line: string): void;
}

export interface NewSession {
  readonly message: string;
  /** A session with this id that exists already is the answer: its sender was killed before it knew. */
  readonly id?: string | undefined;
  /** The key of the message; see `message`. */
  readonly message_key?: string | undefined;
  readonly workspace_id?: string | undefined;
  readonly model?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly caller_tools?: readonly CallerTool[] | undefined;
  readonly parent_id?: string | undefined;
}

export type HubSessions = ReturnType<typeof createHubSessions>;

/** Agents whose loop runs here and whose tools run in the container of their project. */
export function createHubSessions(options: HubSessionsOptions) {
  const { store, logs, workspaces, lifecycle, log } = options;
  const records = store.records<HubSession>("session");
  const sessions = new LogSessionStore(logs.logs);
  const budgets = createBudgets(records);
  const pending = createPendingMessages(records, logs);

  const find = async (id: string): Promise<HubSession> => {
    const found = await records.get(id);
    if (found) return found;
    throw new ToolError("NOT_FOUND", `there is no session '${id}'; session.list shows them`, { id });
  };
  const toEvent = (
    type: LifecycleEvent["type"],
    { id, project_id, workspace_id, outcome, cost }: HubSession,
  ): LifecycleEvent => ({ type, project_id, session_id: id, workspace_id, outcome, cost });
  const report = (type: LifecycleEvent["type"], session: HubSession): HubSession =>
    keepEvent(session, toEvent(type, session), options.now());
  /** `type`: the event of this change. */
  const change: RunsOptions["change"] = async (id, update, type) => {
    const updated_at = new Date().toISOString();
    const changed = await records.change(id, (session) => {
      const next = { ...session, ...update, updated_at };
      return type === undefined ? next : report(type, next);
    });
    if (changed && type !== undefined) publishKept(lifecycle, "session", changed);
    return changed;
  };
  const runs = createSessionRuns({ ...options, find, change, sessions, budgets, pending });
  const addRecord = async (session: HubSession) => {
    const stored = report("session.started", session);
    await records.add(stored);
    await workspaces.noteSession(session.workspace_id);
    publishKept(lifecycle, "session", stored);
  };
  const workspaceFor = async (
    project: Project,
    { id: session_id, workspace_id: id }: NewSession,
  ): Promise<Workspace> => {
    if (id === undefined && session_id === undefined) return workspaces.create(project);
    if (id === undefined) {
      // A killed hub may have created it before it stored the session.
      const name = session_id?.slice(-NAME_CHARS);
      const found = (await workspaces.list(project.id)).find((one) => one.name === name);
      return found ?? workspaces.create(project, { name });
    }
    const workspace = await workspaces.find(id);
    if (workspace.project_id === project.id) return workspace;
    throw new ToolError("NOT_FOUND", `the project has no workspace '${id}'`, { id });
  };

  return {
    find,
    treeOf: budgets.treeOf,
    /** US dollars so far, also while it works. */
    costOf: budgets.costOf,
    /** As callers see it, with what it has cost so far. */
    view: (session: HubSession): SessionView =>
      toSessionView({ ...session, cost: budgets.costOf(session) + (session.copied_cost ?? 0) }),
    list: (project_id?: string) => records.list({ project_id }),
    workingCount: runs.count,
    /** Ids of the sessions at work in a workspace. */
    activeIn: async ({ id, project_id }: Pick<Workspace, "id" | "project_id">) =>
      (await records.list({ project_id }))
        .filter((one) => one.workspace_id === id && one.state === "working")
        .map((one) => one.id),
    /** Resolves when the session may have stopped its work, or at the signal. */
    settled(id: string, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = lifecycle.listen(({ value }) => value.session_id === id && resolve());
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
      return promise.finally(stop);
    },
    async spawn(project: Project, given: NewSession): Promise<HubSession> {
      runs.refuseClosing();
      checkCallerTools(given.caller_tools ?? []);
      const known = given.id === undefined ? undefined : await records.get(given.id);
      if (known) return known;
      const parent = given.parent_id === undefined ? undefined : await find(given.parent_id);
      return budgets.admit(project, { parent }, async () => {
        const workspace = await workspaceFor(project, given);
        const id = given.id ?? newHandle("ses", Date.now());
        const now = new Date().toISOString();
        const session: HubSession = {
          id,
          project_id: project.id,
          workspace_id: workspace.id,
          state: "working",
          caller_tools: given.caller_tools ?? [],
          pending: [{ text: given.message, after: 0 }],
          root_id: parent?.root_id ?? id,
          depth: parent ? parent.depth + 1 : 0,
          cost: 0,
          created_at: now,
          updated_at: now,
          ...(parent && { parent_id: parent.id }),
          ...(given.model !== undefined && { model: given.model }),
          ...(given.labels && { labels: given.labels }),
          ...(given.message_key !== undefined && { message_keys: [given.message_key] }),
        };
        await addRecord(session);
        runs.start(session);
        return session;
      });
    },
    /** Wakes an idle session; a working one reads the message at its next step. A known `key` sends nothing. */
    async message(id: string, text: string, key?: string): Promise<HubSession> {
      runs.refuseClosing();
      const session = await find(id);
      if (key !== undefined && session.message_keys?.includes(key)) return session;
      if (session.state === "ended") throw hasEnded();
      const add = () => pending.add(id, text, { key, report: (stored) => report("session.working", stored) });
      const stored = runs.has(id)
        ? await add()
        : await budgets.admit(await findProject(store, session.project_id), { idle_id: id }, add);
      runs.deliver(session, text);
      if (stored) publishKept(lifecycle, "session", stored);
      return find(id);
    },
    /** Stops its work; it cannot be continued. */
    async end(id: string): Promise<HubSession> {
      await find(id);
      await runs.stop(id);
      await change(id, { state: "ended", pending: [] }, "session.ended");
      return find(id);
    },
    /** A copy of its events in a new, idle session, in a workspace of its own that begins at the same commits. */
    async fork(
      id: string,
      {
        index,
        same_workspace,
        parent,
      }: {
        readonly index?: number | undefined;
        readonly same_workspace: boolean;
        /** The session that forks it, whose child the copy is. */
        readonly parent?: HubSession | undefined;
      },
    ): Promise<HubSession> {
      const session = await find(id);
      const last = await logs.last(id);
      if (last === 0)
        throw new ToolError("CONFLICT", "the session has no events yet, so there is nothing to fork", {
          ...{ expected: "events", actual: "none" },
        });
      if (index !== undefined && index > last)
        throw new ToolError("NOT_FOUND", `the session has no event ${index}; its last one is ${last}`, {});
      const project = await findProject(store, session.project_id);
      const from = await workspaces.find(session.workspace_id);
      return budgets.admit(project, { parent, isIdle: true }, async () => {
        const workspace = same_workspace ? from : await workspaces.create(project, { from });
        const copy_id = newHandle("ses", Date.now());
        const now = new Date().toISOString();
        const {
          outcome: _outcome,
          problem: _problem,
          waiting: _waiting,
          parent_id: _parent,
          message_keys: _keys,
          kept_events: _kept,
          ...rest
        } = session;
        // Before it has events: what a kill leaves of it is an ended session, which is cleaned up as others are.
        await records.add({
          ...rest,
          id: copy_id,
          workspace_id: workspace.id,
          state: "ended",
          pending: [],
          problem: "the hub ended while it copied the session; fork it again",
          cost: 0,
          root_id: parent?.root_id ?? copy_id,
          depth: parent ? parent.depth + 1 : 0,
          ...(parent && { parent_id: parent.id }),
          forked_from: id,
          created_at: now,
          updated_at: now,
        });
        try {
          const fork = await sessions.fork(id, index, copy_id);
          const cost = fork.conversation.knownCost;
          await fork.close();
          await workspaces.noteSession(workspace.id);
          // The copied events have their price; what the fork spends is what is added.
          const copied = { cost, copied_cost: cost };
          await change(copy_id, { ...copied, state: "idle", problem: undefined }, "session.started");
        } catch (cause) {
          await logs.logs.remove(copy_id);
          await records.remove(copy_id);
          throw cause;
        }
        return find(copy_id);
      });
    },
    /** Deletes it with its events. */
    async remove(id: string): Promise<void> {
      const session = await find(id);
      // Before it is gone: a hub that is killed now reports it again when the session is deleted again.
      lifecycle.publish(toEvent("session.deleted", session));
      await options.eventsStored();
      await logs.logs.remove(id);
      await records.remove(id);
    },
    /** Continues the sessions of a project that a stopped or killed hub left at work. */
    async resume(project_id: string): Promise<void> {
      for (const session of await records.list({ project_id }))
        if (session.state === "working") runs.start(session);
    },
    /** Stops them without a trace: another hub continues them. */
    abandon: runs.abandon,
    /** Lets running tool calls end for a while and stops all sessions; they continue when the hub starts again. */
    async close(drainMs: number): Promise<void> {
      await runs.close(drainMs).catch((cause: unknown) => log(`hub: sessions did not stop: ${cause}`));
    },
  };
}

/** How much of a session's id the branch of its workspace has in its name. */
const NAME_CHARS = 8;
