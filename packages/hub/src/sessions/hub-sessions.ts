import { type AgentEvent, type Limits, LogSessionStore } from "@octant/agent";
import { connectToStreams, type OpenedAgent, openAgent } from "@octant/app";
import { newHandle, type Tool, ToolError } from "@octant/core";
import type { PermissionRule } from "@octant/runtime";
import type { Containers } from "../containers/containers.ts";
import type { ExecProcess } from "../engines/engine.ts";
import { findProject, type Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";
import { type CallerCalls, type CallerRequest, callerTool, toZod } from "./caller-tools.ts";
import type { CallerTool, HubSession, PendingMessage } from "./hub-session.ts";
import type { HubLogs } from "./session-logs.ts";

export interface HubSessionsOptions {
  readonly store: HubStore;
  readonly logs: HubLogs;
  readonly containers: Containers;
  readonly workspaces: Workspaces;
  readonly calls: CallerCalls;
  /** Contains the API keys of the providers, which stay in the hub. */
  readonly env: NodeJS.ProcessEnv;
  /** The command in a container that serves the tools of a workspace on its stdin and stdout. */
  readonly serverArgv: (path: string) => readonly string[];
  /** Writes the settings that the tools in the project's container read when they start. */
  writeSettings(project: Project): void;
  /** Further tools of a session, which run in the hub. */
  toolsOf(session: HubSession): readonly Tool[];
  onEvent(session: HubSession, event: AgentEvent): void;
  log(line: string): void;
}

export interface NewSession {
  readonly message: string;
  readonly workspace_id?: string | undefined;
  readonly model?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly caller_tools?: readonly CallerTool[] | undefined;
  readonly parent_id?: string | undefined;
}

export type HubSessions = ReturnType<typeof createHubSessions>;

/** The mark in a session's log that asks its caller to run one of its tools. */
export const CALLER_REQUEST = "caller_tool_request";
/** The container confines a session, so nothing asks; the deny rules of the project are settings of its container. */
const ALLOW_ALL: PermissionRule = { tool_pattern: "*", mode: "allow" };
const SERVER_END_MS = 5_000;
const MAX_REASON_CHARS = 400;
const MINUTE_MS = 60_000;
const FIRST_LINE = /^.{0,72}/;

/** Agents whose loop runs here and whose tools run in the container of their project. */
export function createHubSessions(options: HubSessionsOptions) {
  const { store, logs, containers, workspaces, calls, env, log } = options;
  const records = store.records<HubSession>("session");
  const sessions = new LogSessionStore(logs.logs);
  const working = new Map<string, { opened?: OpenedAgent; ended: Promise<void>; isEnding: boolean }>();
  let isClosing = false;

  const find = async (id: string): Promise<HubSession> => {
    const found = await records.get(id);
    if (found) return found;
    throw new ToolError("NOT_FOUND", `there is no session '${id}'; session.list shows them`, { id });
  };
  const change = async (id: string, update: Partial<HubSession>): Promise<void> => {
    const updated_at = new Date().toISOString();
    await records.change(id, (session) => ({ ...session, ...update, updated_at }));
  };
  const treeOf = async (root_id: string): Promise<readonly HubSession[]> =>
    (await records.list()).filter((session) => session.root_id === root_id);

  /** Throws when the budgets of the project or the tree do not allow another session. */
  const checkBudget = async ({ id, limits }: Project, parent: HubSession | undefined) => {
    const refuse = (what: string, limit: number) =>
      new ToolError(
        "LIMIT_EXCEEDED",
        `the project allows ${what}; wait for others to end, or raise its limits`,
        { limit },
      );
    const all = await records.list({ project_id: id });
    const active = all.filter(({ state }) => state === "working");
    if (active.length >= limits.max_sessions)
      throw refuse(`${limits.max_sessions} sessions at work at once`, limits.max_sessions);
    if (!parent) return;
    if (parent.depth >= limits.max_depth)
      throw refuse(`${limits.max_depth} generations of sessions`, limits.max_depth);
    const tree = await treeOf(parent.root_id);
    if (tree.length >= limits.max_agents)
      throw refuse(`${limits.max_agents} sessions in one tree`, limits.max_agents);
    const cost = tree.reduce((sum, one) => sum + one.cost, 0);
    if (limits.max_cost !== undefined && cost >= limits.max_cost)
      throw refuse(`$${limits.max_cost} in one tree`, limits.max_cost);
  };

  const connect = (project: Project, workspace: Workspace) => {
    const cwd = workspaces.pathInContainer(workspace);
    return connectToStreams({
      address: `hub:${workspace.id}`,
      open: async () => toStreams(await containers.exec(project, { argv: options.serverArgv(cwd), cwd })),
    });
  };

  const open = async (
    session: HubSession,
    project: Project,
    treeCost: () => number,
  ): Promise<OpenedAgent> => {
    const workspace = await workspaces.find(session.workspace_id);
    options.writeSettings(project);
    const { max_cost, wall_minutes } = project.limits;
    const limits = (): Limits => ({
      ...(max_cost !== undefined && { max_cost: Math.max(0, max_cost - treeCost()) }),
      ...(wall_minutes !== undefined && { max_time_ms: wall_minutes * MINUTE_MS }),
    });
    const wire = await connect(project, workspace);
    // A server that does not start is the problem of the session.
    await wire.ready().catch((cause: unknown) => {
      wire.close();
      throw cause;
    });
    const announce = async (request: CallerRequest) => {
      await working
        .get(session.id)
        ?.opened?.agent.session.append({ type: "mark", name: CALLER_REQUEST, data: request });
    };
    const given = callerTool({ session_id: session.id, tools: session.caller_tools, calls, announce });
    const isNew = (await logs.last(session.id)) === 0;
    const model = session.model ?? project.model;
    return openAgent({
      env,
      ...(model !== undefined && { model }),
      log,
      sessions,
      limits,
      from: { how: isNew ? "create" : "resume", id: session.id },
      host: { dispatch: wire.dispatch, address: `hub:${workspace.id}`, close: () => wire.close() },
      allow: [ALLOW_ALL],
      customTools: [...options.toolsOf(session), ...(given ? [given] : [])],
    });
  };

  /** Works until all messages are answered. */
  const work = async (id: string): Promise<void> => {
    const session = await find(id);
    const project = await findProject(store, session.project_id);
    const tree = await treeOf(session.root_id);
    const others = tree.reduce((sum, one) => sum + (one.id === id ? 0 : one.cost), 0);
    let ownBefore = 0;
    const opened = await open(session, project, () => others + ownBefore);
    const entry = working.get(id);
    if (entry) entry.opened = opened;
    const { agent } = opened;
    const unsubscribe = agent.subscribe((event) => options.onEvent(session, event));
    try {
      await forgetDelivered(id);
      for (let next = await nextStep(id); next && !entry?.isEnding; next = await nextStep(id)) {
        ownBefore = agent.session.conversation.cost ?? 0;
        const ended = next === "proceed" ? await agent.proceed() : await agent.send(next.text);
        await forgetDelivered(id);
        await change(id, { outcome: ended.reason, cost: agent.session.conversation.cost ?? 0 });
        await commit(project, session, agent.session.conversation.title);
      }
    } finally {
      unsubscribe();
      if (entry) delete entry.opened;
      await opened[Symbol.asyncDispose]();
    }
  };

  /** The oldest message that the session has not read; `proceed` when a run was cut off. */
  const nextStep = async (id: string): Promise<PendingMessage | "proceed" | undefined> => {
    const { pending } = await find(id);
    if (pending[0]) return pending[0];
    const { events, ended } = await sessions.info(id).catch(() => ({ events: 0, ended: null }));
    // Only the hub cancels, when it closes or when the session is over.
    return events > 0 && (ended === null || ended === "cancelled") ? "proceed" : undefined;
  };

  /** Removes the messages that are in the log. */
  const forgetDelivered = async (id: string): Promise<void> => {
    const { pending } = await find(id);
    const first = Math.min(...pending.map(({ after }) => after));
    const read = pending.length > 0 ? await logs.readAfter(id, first, Number.MAX_SAFE_INTEGER) : [];
    const users = read.filter((event) => event.type === "user");
    // Each event is one message, also where two have the same text.
    const delivered = pending.filter(({ text, after }) => {
      const at = users.findIndex(({ seq, content }) => seq > after && textOf(content) === text);
      if (at >= 0) users.splice(at, 1);
      return at >= 0;
    });
    if (delivered.length === 0) return;
    await records.change(id, (session) => {
      const left = [...session.pending];
      for (const { text, after } of delivered)
        left.splice(
          left.findIndex((one) => one.text === text && one.after === after),
          1,
        );
      return { ...session, pending: left };
    });
  };

  /** The result of a run is a commit on the branch of its workspace. */
  const commit = async (project: Project, session: HubSession, title: string): Promise<void> => {
    const cwd = workspaces.pathInContainer(await workspaces.find(session.workspace_id));
    const run = (...argv: readonly string[]) => containers.run(project, { argv, cwd });
    await run("git", "add", "-A");
    if ((await run("git", "diff", "--cached", "--quiet")).code === 0) return;
    const subject = FIRST_LINE.exec(title)?.[0] || "Work of a session";
    const { code, stderr } = await run("git", "commit", "--quiet", "--no-verify", "-m", subject);
    if (code !== 0) log(`hub: session ${session.id} could not commit its work: ${stderr.trim()}`);
  };

  const start = (id: string): void => {
    if (working.has(id)) return;
    const ended = work(id)
      .then(async () => {
        working.delete(id);
        if (isClosing) return;
        // A message may have come after the last step.
        if ((await find(id)).pending.length > 0) start(id);
        else await change(id, { state: "idle" });
      })
      .catch(async (cause: unknown) => {
        const problem = cause instanceof Error ? cause.message : String(cause);
        log(`hub: session ${id} failed: ${problem}`);
        await change(id, { state: "idle", outcome: "error", problem });
      })
      .finally(() => {
        if (working.get(id)?.ended === ended) working.delete(id);
      });
    ended.catch((cause: unknown) => log(`hub: the state of session ${id} cannot be stored: ${cause}`));
    working.set(id, { ended, isEnding: false });
  };

  const toPending = async (id: string, text: string): Promise<PendingMessage> => ({
    text,
    after: await logs.last(id),
  });

  return {
    find,
    treeOf,
    list: (project_id: string) => records.list({ project_id }),
    /** Ids of the sessions at work in a workspace. */
    activeIn: async (workspace_id: string) =>
      (await records.list())
        .filter((one) => one.workspace_id === workspace_id && one.state === "working")
        .map(({ id }) => id),
    async spawn(project: Project, given: NewSession): Promise<HubSession> {
      for (const { name, input_schema } of given.caller_tools ?? []) toZod(name, input_schema);
      const parent = given.parent_id === undefined ? undefined : await find(given.parent_id);
      await checkBudget(project, parent);
      const workspace =
        given.workspace_id === undefined
          ? await workspaces.create(project)
          : await workspaces.find(given.workspace_id);
      if (workspace.project_id !== project.id)
        throw new ToolError("NOT_FOUND", `the project has no workspace '${workspace.id}'`, {
          id: workspace.id,
        });
      const id = newHandle("ses", Date.now());
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
      };
      await records.add(session);
      await workspaces.noteSession(workspace.id);
      start(id);
      return session;
    },
    /** Wakes an idle session; a working one reads the message at its next step. */
    async message(id: string, text: string): Promise<HubSession> {
      const session = await find(id);
      if (session.state === "ended")
        throw new ToolError("LOCKED", "the session has ended; session.fork continues it in another one", {});
      if (!working.has(id)) await checkBudget(await findProject(store, session.project_id), undefined);
      const pending = await toPending(id, text);
      const updated_at = new Date().toISOString();
      await records.change(id, (stored) => ({
        ...stored,
        state: "working",
        pending: [...stored.pending, pending],
        updated_at,
      }));
      const { opened } = working.get(id) ?? {};
      if (opened?.agent.isRunning) opened.agent.queue(text);
      else start(id);
      return find(id);
    },
    /** Stops its work; it cannot be continued. */
    async end(id: string): Promise<HubSession> {
      await find(id);
      const entry = working.get(id);
      if (entry) {
        entry.isEnding = true;
        await entry.opened?.agent.cancel();
        await entry.ended;
      }
      await change(id, { state: "ended", pending: [] });
      return find(id);
    },
    async fork(id: string, seq: number | undefined): Promise<HubSession> {
      const session = await find(id);
      const fork = await sessions.fork(id, seq);
      await fork.close();
      const now = new Date().toISOString();
      const copy: HubSession = {
        ...session,
        id: fork.id,
        state: "idle",
        pending: [],
        cost: 0,
        root_id: fork.id,
        depth: 0,
        created_at: now,
        updated_at: now,
      };
      await records.add(copy);
      return copy;
    },
    async remove(id: string): Promise<void> {
      await logs.logs.remove(id);
      await records.remove(id);
    },
    /** Continues the sessions that a stopped or killed hub left at work. */
    async resume(): Promise<void> {
      for (const { id, state } of await records.list()) if (state === "working") start(id);
    },
    /** Stops all of them; they continue when the hub starts again. */
    async close(): Promise<void> {
      isClosing = true;
      const all = [...working.values()];
      for (const entry of all) entry.isEnding = true;
      await Promise.all(all.map(({ opened }) => opened?.agent.cancel()));
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

/** The connection to a server in a container. */
function toStreams(process: ExecProcess) {
  let tail = "";
  process.stderr.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_REASON_CHARS);
  });
  const ended = process.exited.then(
    (code) => `exit code ${code ?? "unknown"}`,
    (cause: Error) => cause.message,
  );
  return {
    input: process.stdout,
    output: process.stdin,
    reason: async () => `the tools in the container ended: ${await ended}${tail && `: ${tail.trim()}`}`,
    /** A server exits when its stdin closes; one that does not is killed. */
    close() {
      process.stdin.end();
      const timer = setTimeout(() => void process.kill(), SERVER_END_MS);
      timer.unref();
      void ended.then(() => clearTimeout(timer));
    },
  };
}

const textOf = (content: readonly { readonly type: string; readonly text?: string }[]): string =>
  content.map(({ text = "" }) => text).join("");
