import { setTimeout as sleep } from "node:timers/promises";
import type { AgentEvent, LogSessionStore } from "@octant/agent";
import { awaitServers, type OpenedAgent, openAgent } from "@octant/app";
import { counted, orAborted, type Tool, ToolError } from "@octant/core";
import type { PermissionRule } from "@octant/runtime";
import type { Containers } from "../containers/containers.ts";
import { createPlaceFence, type PlaceFence } from "../hosts/place-fence.ts";
import { createSaver } from "../hosts/saver.ts";
import type { LifecycleEvent } from "../lifecycle/lifecycle-events.ts";
import { ProjectLost } from "../peers/peers.ts";
import { findProject, type Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";
import type { Budgets } from "./budgets.ts";
import { type CallerCalls, type CallerRequest, callerTool } from "./caller-tools.ts";
import { connectToContainer } from "./container-connection.ts";
import type { HubSession, PendingMessage } from "./hub-session.ts";
import { describeLeftOver, STAGE_ALL } from "./left-over.ts";
import { describeProblem } from "./model-problem.ts";
import type { PendingMessages } from "./pending-messages.ts";
import { serversOf } from "./project-servers.ts";
import type { HubLogs } from "./session-logs.ts";
import { createStartSlots } from "./start-slots.ts";

export interface RunsOptions {
  readonly store: HubStore;
  readonly logs: HubLogs;
  readonly containers: Pick<
    Containers,
    "execTools" | "explain" | "makeRoom" | "run" | "watchLimits" | "save"
  >;
  readonly workspaces: Workspaces;
  readonly calls: CallerCalls;
  readonly env: NodeJS.ProcessEnv;
  prepare(project: Project, workspace: Workspace, cwd: string, signal?: AbortSignal): Promise<void>;
  readonly sessions: LogSessionStore;
  readonly budgets: Budgets;
  /** How many sessions may start their tools at the same moment. */
  readonly startsAtOnce: number;
  readonly pending: PendingMessages;
  find(id: string): Promise<HubSession>;
  /** `type`: the event that reports the change. */
  change(
    id: string,
    update: Partial<HubSession>,
    type?: LifecycleEvent["type"],
  ): Promise<HubSession | undefined>;
  writeSettings(project: Project): void;
  toolsOf(session: HubSession): readonly Tool[];
  log(line: string): void;
}

/** A session at work in this process. */
interface Run {
  readonly project_id: string;
  /** Another hub has the project: nothing more is stored. */
  isLost?: boolean;
  opened?: OpenedAgent;
  ended: Promise<void>;
  /** Aborted when it has to stop. */
  readonly ending: AbortController;
  /** Tool calls that have begun and not ended. */
  calls: number;
  /** Called when the last of them ends. */
  onQuiet?: () => void;
}

/** The mark in a session's log that asks its caller to run one of its tools. */
const CALLER_REQUEST = "caller_tool_request";
/** Marks of the container: its tools ended, or one of its limits was hit. */
const CONTAINER_ENDED = "container_ended";
const CONTAINER_LIMIT = "container_limit";
/** The mark of a workspace that came to another host: what was lost. */
const HOST_LOST = "host_lost";
/** The container confines a session, so nothing asks; the deny rules of the project are settings of its container. */
const ALLOW_ALL: PermissionRule = { tool_pattern: "*", mode: "allow" };
const RETRY_MS = 5_000;
const MAX_SERVERS_MS = 15_000;

/** The work of sessions: each runs until all of its messages are answered. */
export function createSessionRuns(options: RunsOptions) {
  const { store, logs, workspaces, containers, sessions, budgets, pending, find, change, log } = options;
  const working = new Map<string, Run>();
  const starts = createStartSlots(options.startsAtOnce);
  let isClosing = false;

  /** Puts something that happened outside of the loop into the session's events. */
  const mark = (id: string, name: string, data: unknown): void => {
    const stored = working.get(id)?.opened?.agent.session.append({ type: "mark", name, data });
    stored?.catch((cause: unknown) => log(`hub: session ${id}: ${name} cannot be stored: ${cause}`));
  };

  /** Shows in the session why it does not work yet. */
  const noteWaiting = async (id: string, waiting: string | undefined): Promise<void> => {
    if ((await find(id)).waiting !== waiting) await change(id, { waiting });
  };
  const open = async (
    session: HubSession,
    project: Project,
    budget: Awaited<ReturnType<Budgets["open"]>>,
    fence: PlaceFence,
    onStarted: () => void,
  ): Promise<OpenedAgent> => {
    const workspace = await workspaces.find(session.workspace_id);
    options.writeSettings(project);
    const onEnded = (reason: string) => mark(session.id, CONTAINER_ENDED, { reason });
    let noted: Promise<void> = Promise.resolve();
    const onWaiting = (waiting: string | undefined) => {
      noted = noted
        .then(() => noteWaiting(session.id, waiting))
        .catch((cause: unknown) => log(`hub: session ${session.id}: ${cause}`));
    };
    const signal = working.get(session.id)?.ending.signal;
    const waiting = { onWaiting, signal };
    const host = await connectToContainer(options, project, workspace, { onEnded, waiting }, fence);
    void Promise.resolve(host.ready).then(onStarted, onStarted);
    const announce = async (request: CallerRequest) => {
      const agent = working.get(session.id)?.opened?.agent;
      await agent?.session.append({ type: "mark", name: CALLER_REQUEST, data: request });
    };
    const { calls, env } = options;
    const given = callerTool({ session_id: session.id, tools: session.caller_tools, calls, announce });
    const isNew = (await logs.last(session.id)) === 0;
    const model = session.model ?? project.model;
    const opening = openAgent({
      env,
      ...(model !== undefined && { model }),
      log,
      sessions,
      limits: budget.limits,
      from: { how: isNew ? "create" : "resume", id: session.id },
      host,
      allow: [ALLOW_ALL],
      customTools: [...options.toolsOf(session), ...(given ? [given] : [])],
      ...serversOf({
        containers,
        project,
        cwd: workspaces.pathInContainer(workspace),
        workspace_id: workspace.id,
      }),
    });
    const opened = await orAborted(opening, signal).catch(async (cause: unknown) => {
      await host.close();
      await opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
      throw cause;
    });
    // The rules in the container decide about its tools; those of MCP servers are called from here.
    for (const rule of project.permissions?.toReversed() ?? [])
      if (rule.mode === "deny") opened.octant.sessionRules.setRule(session.id, rule);
    // Tools that come later are offered later, and a run that stops needs none.
    await orAborted(
      awaitServers(opened.servers, () => {}, MAX_SERVERS_MS),
      signal,
    ).catch(() => {});
    return opened;
  };

  /** A lost host must not end a session: it continues on the next one. */
  const work = async (id: string): Promise<void> => {
    const losses: string[] = [];
    const noteLosses = () => {
      if (working.get(id)?.opened)
        for (const loss of losses.splice(0)) mark(id, HOST_LOST, { message: loss });
    };
    const fence = createPlaceFence((loss) => {
      losses.push(loss);
      noteLosses();
    });
    for (;;) {
      const before = fence.changes();
      try {
        return await workInPlace(id, fence, noteLosses);
      } catch (cause) {
        // The end of the agent may have connected to another host already.
        const isLost = (fence.isHostLost() || fence.changes() > before) && !(cause instanceof ProjectLost);
        if (!isLost || isClosing || working.get(id)?.ending.signal.aborted) throw cause;
        log(
          `hub: session ${id} continues on another host: ${cause instanceof Error ? cause.message : cause}`,
        );
      }
    }
  };

  const workInPlace = async (id: string, fence: PlaceFence, noteLosses: () => void): Promise<void> => {
    const session = await find(id);
    const project = await findProject(store, session.project_id);
    using budget = await budgets.open(session, project);
    // An agent that continues elsewhere may add to the log what is different there.
    const last = await lastRun(id);
    const run = working.get(id);
    const free = await starts.take(run?.ending.signal);
    if (!free) return;
    const opened = await open(session, project, budget, fence, free).catch((cause: unknown) => {
      free();
      throw cause;
    });
    if (run) run.opened = opened;
    noteLosses();
    const { agent } = opened;
    const { conversation } = agent.session;
    const newHits = containers.watchLimits(project, session.workspace_id);
    const save = createSaver(
      () => containers.save(project, session.workspace_id),
      (cause) => log(`hub: the workspace of session ${id} cannot be saved: ${cause}`),
    );
    const finish = async () => {
      await commit(project, session);
      await save.now().catch((cause: unknown) => {
        if (fence.isHostLost()) throw cause;
        log(`hub: the workspace of session ${id} cannot be saved: ${cause}`);
      });
    };
    const noteLimits = () =>
      void newHits()
        .then((hits) => {
          for (const hit of hits) mark(id, CONTAINER_LIMIT, hit);
        })
        .catch((cause: unknown) => log(`hub: the limits of ${project.name} cannot be read: ${cause}`));
    const noteRead = () =>
      void pending
        .forgetDelivered(id)
        .catch((cause: unknown) => log(`hub: what session ${id} has read cannot be noted: ${cause}`));
    const unsubscribe = agent.subscribe((event) => {
      budget.spent(conversation.knownCost);
      if (run) countCalls(run, event);
      if (event.type === "user") noteRead();
      if (event.type === "message") fence.stepped();
      if (event.type !== "tool_ended") return;
      noteLimits();
      save.soon();
    });
    try {
      await pending.forgetDelivered(id);
      let steps = 0;
      for (
        let next = await nextStep(id, last);
        next && !run?.ending.signal.aborted;
        next = await nextStep(id)
      ) {
        steps += 1;
        budget.begin(conversation.knownCost);
        const ended = next === "proceed" ? await agent.proceed() : await agent.send(next.text);
        await pending.forgetDelivered(id);
        const { reason } = ended;
        const problem = (reason === "max_cost" ? budget.exhausted() : undefined) ?? ended.message;
        await change(id, { outcome: reason, problem, cost: conversation.knownCost });
        await finish();
      }
      // A hub was killed, or a host lost, after the last event of a run and before what follows it.
      if (steps === 0 && !run?.ending.signal.aborted) {
        const { ended } = last;
        if (ended !== null) await change(id, { outcome: ended, cost: conversation.knownCost });
        await finish();
      }
    } finally {
      unsubscribe();
      if (run) delete run.opened;
      await opened[Symbol.asyncDispose]();
    }
  };

  /** How the last run of a session ended; null when it was cut off. */
  const lastRun = (id: string) => sessions.info(id).catch(() => ({ events: 0, ended: null }));

  /** The oldest message that the session has not read; `proceed` when a run was cut off. */
  const nextStep = async (
    id: string,
    known?: Awaited<ReturnType<typeof lastRun>>,
  ): Promise<PendingMessage | "proceed" | undefined> => {
    const [first] = (await find(id)).pending;
    if (first) return first;
    const { events, ended } = known ?? (await lastRun(id));
    // Only the hub cancels, when it closes or when the session is over.
    return events > 0 && (ended === null || ended === "cancelled") ? "proceed" : undefined;
  };

  /** The result of a run is a commit on the branch of its workspace. */
  const commit = async (project: Project, { id, workspace_id }: HubSession): Promise<void> => {
    const cwd = workspaces.pathInContainer(await workspaces.find(workspace_id));
    const run = (argv: readonly string[]) => containers.run(project, { argv, cwd, workspace_id });
    const staged = await run(["sh", "-c", STAGE_ALL]);
    const message = describeLeftOver(String(staged.stdout), id);
    const { code, stderr } =
      message === undefined ? staged : await run(["git", "commit", "--quiet", "--no-verify", "-m", message]);
    if (code !== 0) log(`hub: session ${id} could not commit its work: ${stderr.trim()}`);
  };

  const isOver = (run: Run, cause?: unknown) =>
    isClosing || run.isLost || run.ending.signal.aborted || cause instanceof ProjectLost;
  /** Tries until it is stored: nobody would continue a session that is at work only in the database. */
  const settle = async (
    run: Run,
    id: string,
    update: Partial<HubSession>,
    type: LifecycleEvent["type"],
  ): Promise<void> => {
    for (;;)
      try {
        // It may have been ended, or have got a message, while its state could not be stored.
        if (!working.has(id) && (await find(id)).state === "working")
          await change(id, { state: "idle", waiting: undefined, ...update }, type);
        return;
      } catch (cause) {
        if (isOver(run, cause) || (cause instanceof ToolError && cause.code === "NOT_FOUND")) return;
        log(`hub: the state of session ${id} cannot be stored: ${describeProblem(cause)}; trying again`);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
  };

  const start = ({ id, project_id }: Pick<HubSession, "id" | "project_id">): void => {
    if (working.has(id)) return;
    const ended = work(id)
      .then(async () => {
        working.delete(id);
        // The caller that stopped the run stores the next state.
        if (isOver(run)) return;
        // A message may have come after the last step.
        if ((await find(id)).pending.length > 0) start({ id, project_id });
        else await settle(run, id, {}, "session.idle");
      })
      .catch(async (cause: unknown) => {
        if (working.get(id) === run) working.delete(id);
        // A hub that closes cuts connections; the session continues at the next start, or in another hub.
        if (isOver(run, cause)) return;
        const problem = describeProblem(cause);
        log(`hub: session ${id} failed: ${problem}`);
        await settle(run, id, { outcome: "error", problem }, "session.failed");
      })
      .finally(() => {
        if (working.get(id)?.ended === ended) working.delete(id);
      });
    ended.catch((cause: unknown) => log(`hub: session ${id} did not end: ${cause}`));
    const run: Run = { project_id, ended, ending: new AbortController(), calls: 0 };
    working.set(id, run);
  };

  return {
    start,
    has: (id: string) => working.has(id),
    count: () => working.size,
    refuseClosing() {
      if (isClosing)
        throw new ToolError("OVERLOADED", "the hub is shutting down; try again in a moment", {
          retry_after_ms: RETRY_MS,
        });
    },
    /** The message is stored; a running agent gets it now, an idle session starts. */
    deliver(session: Pick<HubSession, "id" | "project_id">, text: string): void {
      const agent = working.get(session.id)?.opened?.agent;
      if (agent?.isRunning) agent.queue(text);
      else start(session);
    },
    /** Stops the runs of a project that another hub has taken over; nothing is stored. */
    async abandon(project_id: string): Promise<void> {
      const all = [...working.values()].filter((run) => run.project_id === project_id);
      for (const run of all) {
        run.isLost = true;
        run.ending.abort();
      }
      await Promise.all(all.map(({ opened }) => opened?.agent.cancel()));
      await Promise.all(all.map(({ ended }) => ended.catch(() => {})));
    },
    async stop(id: string): Promise<void> {
      const run = working.get(id);
      if (!run) return;
      run.ending.abort();
      await run.opened?.agent.cancel();
      await run.ended;
    },
    /** Stops every run when its tool calls have ended, at the latest after `drainMs`. */
    async close(drainMs: number): Promise<void> {
      isClosing = true;
      const all = [...working.values()];
      for (const run of all) run.ending.abort();
      const quiet = Promise.all(
        all.map((run) => {
          const { promise, resolve } = Promise.withResolvers<void>();
          if (run.calls === 0) resolve();
          else run.onQuiet = resolve;
          return promise.then(() => run.opened?.agent.cancel());
        }),
      );
      const calls = all.reduce((sum, run) => sum + run.calls, 0);
      if (calls > 0)
        log(`hub: waits for ${counted(calls, "running tool call")}, at most ${drainMs / 1_000} seconds`);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, drainMs);
      await Promise.race([quiet, late]);
      clearTimeout(timer);
      await Promise.all(all.map(({ opened }) => opened?.agent.cancel()));
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

function countCalls(run: Run, { type }: AgentEvent): void {
  if (type === "tool_began") run.calls += 1;
  if (type !== "tool_ended") return;
  run.calls -= 1;
  if (run.calls <= 0) run.onQuiet?.();
}
