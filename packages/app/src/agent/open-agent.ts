import {
  Agent,
  type ApiClient,
  afterBeginning,
  type CallStep,
  createDispatchExecutor,
  createMcpExecutor,
  createPersonTools,
  createResourceExecutor,
  createToolExecutor,
  elicitFrom,
  type Limits,
  markPlans,
  type ProviderName,
  type Session,
  type SessionStore,
  type ToolHost,
} from "@octant/agent";
import {
  type Ask,
  type Caller,
  type Dispatch,
  invalidArgument,
  isSessionMode,
  MODES,
  type Mode,
  SESSION_MODES,
  type SessionMode,
  ToolError,
} from "@octant/core";
import { findRepository, type HookRecord, recordHooks } from "@octant/host";
import type { McpServers, ServerDefinition } from "@octant/mcp-client";
import type { Thinking } from "@octant/runtime";
import type { DeveloperMode } from "@octant/tools";
import { explainHolder } from "../control/session-holder.ts";
import { createLocalHost } from "../host/local-host.ts";
import type { RemoteHost } from "../host/remote-host.ts";
import { type OpenServersOptions, openServers } from "../mcp-servers/open-servers.ts";
import { type Octant, type OctantOptions, openOctant } from "../octant.ts";
import { cwdOf, toSystem } from "./agent-context.ts";
import { chosenByProject, openClient, withoutKeys } from "./choose-client.ts";
import { openHostFolder } from "./host-folder.ts";
import { loadMarkdown, MARKDOWN_FOLDERS } from "./markdown-files.ts";
import { createSessionHooks, type OnMoment } from "./session-hooks.ts";
import { describeMode, modeOf, persistMode } from "./session-mode.ts";
import { isOwnSession, openSessions } from "./sessions.ts";
import { traceSessions } from "./telemetry.ts";
import { createTurnCheckpoints } from "./turns.ts";
import { createWorkspaceCrew, limitsOf } from "./workspace-crew.ts";
import { openWorktreeRecords } from "./worktree-records.ts";

export interface OpenAgentOptions
  extends Pick<
    OctantOptions,
    | "roots"
    | "tools"
    | "packs"
    | "customTools"
    | "mode"
    | "allow"
    | "log"
    | "tellsUnconfined"
    | "command"
    | "stores"
  > {
  /** Contains the API keys of the providers; programs that the agent starts do not get them. */
  readonly env?: NodeJS.ProcessEnv;
  /** The model; chosen by the options below, the environment and the settings when absent. */
  readonly client?: ApiClient | undefined;
  readonly provider?: ProviderName | undefined;
  readonly model?: string | undefined;
  /** The thinking effort; from the settings when absent. */
  readonly thinking?: Thinking | undefined;
  /** The session to continue; a new one when absent. */
  readonly from?: SessionChoice | undefined;
  /** The person has cleared the conversation before this one, as hooks read it. */
  readonly isCleared?: boolean;
  /** Shows questions to the person; without it calls that need an approval are refused. */
  readonly ask?: Ask | undefined;
  /** A function is read at every step. */
  readonly limits?: Limits | (() => Limits);
  /** Where the sessions are stored; in the state folder of the workspace when absent. */
  readonly sessions?: SessionStore;
  /** The owner of the session, when it is not the person at this machine. */
  readonly owner?: Caller | undefined;
  /** A server in another process, where the tools run; they run here when absent. */
  readonly host?: HostServer | undefined;
  /** Called at the moments of the session and of its sub-agents. */
  readonly onMoment?: OnMoment | undefined;
  /** Layers round the calls of the session. */
  readonly steps?: (octant: Octant) => readonly CallStep[];
  /** Additional MCP servers, such as an editor's own. */
  readonly servers?: Readonly<Record<string, ServerDefinition>>;
  /** Runs the programs of `servers` where the tools run; the servers of the person's settings are then not used. */
  readonly startServer?: OpenServersOptions["elsewhere"];
}

/** The client of a server in another process. */
export interface HostServer {
  readonly dispatch: Dispatch;
  /** Names the server, so that its sessions are found again. */
  readonly address: string;
  /** Settles when the server answers or cannot be started; the agent opens its own part meanwhile. */
  readonly ready?: Promise<unknown>;
  close(): void;
}

export type SessionChoice =
  | { readonly how: "resume"; readonly id: string }
  /** Up to the event `seq`; the whole session when absent. */
  | { readonly how: "fork"; readonly id: string; readonly seq?: number }
  | { readonly how: "latest" }
  /** A new one with this id. */
  | { readonly how: "create"; readonly id: string };

/** The parts of an agent. */
export interface OpenedAgent extends AsyncDisposable {
  readonly agent: Agent;
  readonly octant: Octant;
  readonly sessions: SessionStore;
  readonly servers: McpServers;
  /** The id that its calls come from. */
  readonly caller: string;
  /** With the API keys of the providers. */
  readonly env: NodeJS.ProcessEnv;
  /** Where its tools run, with the checkpoints. */
  readonly host: ToolHost;
  /** The tools run in another process, perhaps on another machine. */
  readonly isRemote: boolean;
  /** Whether no session has been stored in this workspace. */
  isFirst(): Promise<boolean>;
  /** Project instructions that have no effect until they are trusted. */
  readonly untrusted: readonly string[];
  /** The git hooks that the person had in place; commands such as /commit run no others. */
  readonly hooksAtStart: HookRecord;
  /** Switches to the next mode, and describes it in a line. Elsewhere the tools ask by rules of their own. */
  nextMode(): Promise<string>;
  /** The model at the start of the session. */
  readonly client: ApiClient;
  readonly model: string;
  /** The front end, for calls of commands that ask where no rule decides. */
  readonly ask: Ask | undefined;
}

/** Opens workspace, model, session and loop; every front end of the agent starts here. */
export async function openAgent(options: OpenAgentOptions): Promise<OpenedAgent> {
  const { env: withKeys = process.env, ask, log = () => {} } = options;
  let running: Agent | undefined;
  let connected: McpServers | undefined;
  const closing = new AbortController();
  const env = withoutKeys(withKeys);
  const { tools, customTools, mode, allow, tellsUnconfined, command, stores } = options;
  // A host may be restarted while it is opened.
  let onRestart = () => {};
  let remote: RemoteHost | undefined;
  const opening = options.host && openHost(options.host, options, () => onRestart());
  // Awaited below; this process opens its own part while the other one starts.
  opening?.catch(() => {});
  const closeHost = async () => {
    await remote?.close();
    options.host?.close();
    // A host that is still being opened fails now.
    if (!remote) await (await opening?.catch(() => undefined))?.close();
  };
  const place = options.host
    ? {
        roots: [openHostFolder(options.host.address, env, log)],
        tools: MODEL_TOOLS.filter((name) => tools?.includes(name) ?? name === "agent"),
      }
    : {
        roots: options.roots,
        packs: options.packs,
        tools,
        toolConfig: { enable: ["core", "notes"] as const },
      };
  const octant: Octant = await openOctant({
    ...place,
    ...{ customTools, mode, allow, tellsUnconfined, log, env, command },
    ...(stores && { stores }),
    keys: withKeys,
    switchesModes: true,
    permissions: "enforce",
    checkpointsByDefault: true,
    crew: (octant) =>
      createWorkspaceCrew({
        octant,
        env: withKeys,
        options,
        permissions: "enforce",
        ask,
        host: remote && withOwnMarkdown(remote, octant, env),
        places: remote?.members,
        rootLimit: () => running?.limitReached(),
        servers: () => connected,
      }),
  }).catch(async (cause: unknown) => {
    await closeHost();
    throw cause;
  });
  let opened: Session | undefined;
  try {
    const hooksAtStart = hooksOf(octant, env);
    await openWorktreeRecords(octant.workspace, env).sweep();
    const client = options.client ?? (await openClient(octant, withKeys, options));
    remote = await opening;
    const host = remote ? withOwnMarkdown(remote, octant, env) : createLocalHost(octant, withKeys);
    const sessions = options.sessions ?? openSessions(octant.workspace, options.owner);
    const session = await openSession(sessions, options.from, env);
    opened = session;
    const caller = options.owner?.id ?? session.id;
    octant.spending.join(caller, session);
    const isNew = session.conversation.model === undefined;
    const context = isNew ? await host.context() : undefined;
    // An event, because every front end shows those, each in its own way.
    const notify = (text: string) =>
      // A log that cannot be written ends the run itself.
      void afterBeginning(session, () => session.append({ type: "notice", level: "warning", text })).catch(
        () => {},
      );
    const servers = openServers({
      octant,
      env,
      more: options.servers,
      elsewhere: options.startServer,
      elicit: elicitFrom({ questions: octant.questions, caller, ask, log }),
      tellsUnconfined,
      log: notify,
      onFailed: notify,
    });
    connected = servers;
    if (isNew) for (const line of chosenByProject(octant, options)) notify(line);
    const hooks = createSessionHooks(octant, session, options.onMoment);
    const isOffered = (one: SessionMode) => !remote || MODES[one].unasked.length === 0;
    const turn = createTurnCheckpoints(host.turns, session);
    onRestart = () => {
      turn.forget();
      notify("the host of the tools was restarted; the session continues there");
    };
    const agent = new Agent({
      client,
      tools: createToolExecutor({
        ...sourcesOf(host, octant, servers, options.owner, () => modeOf(octant, caller)),
        unlisted: createPersonTools({
          questions: octant.questions,
          caller,
          mode: () => modeOf(octant, caller),
          modes: octant.fixedMode ? [] : SESSION_MODES.filter((one) => isOffered(one) && one !== "plan"),
          switchTo: (mode) => octant.modes.setSession(caller, mode),
        }),
        steps: [turn.step, ...(options.steps?.(octant) ?? []), markPlans(session)],
      }),
      afterRun: turn.end,
      hooks,
      source: options.from?.how === "fork" ? "fork" : options.isCleared ? "clear" : undefined,
      session,
      ask,
      system: context ? toSystem(host, context, octant.config.settings) : "",
      cwd: cwdOf(host),
      compaction: { max_tokens: octant.config.settings.max_tokens ?? undefined },
      limits: () => narrowest(limitsOf(options), octant.modes.current(caller)?.limits),
    });
    running = agent;
    agent.subscribe((event) => {
      if (event.type !== "permission_asked") return;
      const message = `${event.action} needs your permission`;
      const fields = { message, notification_type: "permission_prompt" };
      // A hook that fails has been logged.
      hooks.fire("Notification", { subject: "permission_prompt", fields }, closing.signal).catch(() => {});
    });
    persistMode(
      octant.modes,
      caller,
      agent,
      isNew ? [] : await Array.fromAsync(sessions.events(session.id)),
      isSessionMode(mode) ? mode : undefined,
    );
    octant.sessions.join(agent);
    const tracing = traceSessions(octant.sessions.events, withKeys, log);
    return {
      agent,
      octant,
      sessions,
      servers,
      caller,
      env: withKeys,
      host,
      isRemote: remote !== undefined,
      isFirst: async () => isNew && (await sessions.list()).length === 0,
      untrusted: context?.untrusted ?? [],
      hooksAtStart,
      nextMode() {
        const modes = SESSION_MODES.filter(isOffered);
        const next = modes[modes.indexOf(octant.modes.session(caller)) + 1] ?? "ask";
        octant.modes.setSession(caller, next);
        return describeMode(octant, next);
      },
      client,
      model: client.model.id,
      ask,
      async [Symbol.asyncDispose]() {
        closing.abort();
        await agent.close();
        await servers.close();
        await tracing?.[Symbol.asyncDispose]();
        await octant.close();
        await closeHost();
      },
    };
  } catch (cause) {
    await opened?.close();
    await octant.close();
    await closeHost();
    throw cause;
  }
}

/** The person's own files on this side come before those of the host. */
const withOwnMarkdown = (host: ToolHost, octant: Octant, env: NodeJS.ProcessEnv): ToolHost => ({
  ...host,
  markdown: (kind) => [...loadMarkdown(octant, env, MARKDOWN_FOLDERS[kind]), ...host.markdown(kind)],
});

/** They need the models, so they run on this side. */
const MODEL_TOOLS = ["agent", "llm"];

async function openHost(
  server: HostServer,
  { allow, tools, mode }: OpenAgentOptions,
  onRestart: () => void,
): Promise<RemoteHost> {
  try {
    checkRemoteMode(mode);
    const { openRemoteHost } = await import("../host/remote-host.ts");
    await server.ready;
    return await openRemoteHost({ dispatch: server.dispatch, allow, tools, onRestart });
  } catch (cause) {
    server.close();
    throw cause;
  }
}

function hooksOf({ workspace: { confinement } }: Octant, env: NodeJS.ProcessEnv): HookRecord {
  try {
    return recordHooks(findRepository(confinement, confinement.roots[0] ?? "/"), env);
  } catch (cause) {
    // Without a usable repository there are none.
    if (cause instanceof ToolError) return new Map();
    throw cause;
  }
}

function checkRemoteMode(mode: Mode | undefined): void {
  if (mode === undefined || MODES[mode].unasked.length === 0) return;
  const message = `mode ${mode} needs the tools in this process; the host of --host asks by its own rules`;
  throw invalidArgument("mode", message);
}

/** The tools that the model is offered: those of the host, and those of this process. */
function sourcesOf(
  host: ToolHost,
  octant: Octant,
  servers: McpServers,
  caller: Caller | undefined,
  mode: () => Mode | undefined,
) {
  // With tools elsewhere, the policy of this side decides about MCP servers, which run here.
  const { dispatchTo = octant.dispatchTo } = host;
  const foreign = { servers, dispatchTo, caller };
  const here = host.dispatchTo ? [] : [{ host: createLocalHost(octant, {}), caller }];
  return {
    own: createDispatchExecutor({ host, caller, mode }),
    further: [
      ...here.map(createDispatchExecutor),
      createMcpExecutor(foreign),
      createResourceExecutor(foreign),
    ],
  };
}

async function openSession(
  sessions: SessionStore,
  from: SessionChoice | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Session> {
  if (!from) return sessions.create();
  if (from.how === "fork") return sessions.fork(from.id, from.seq);
  if (from.how === "resume") return reopen(sessions, await sessions.resolve(from.id), env);
  if (from.how === "create") return sessions.create(from.id);
  const latest = (await sessions.list()).find((one) => isOwnSession(one) && one.problem === null);
  if (!latest)
    throw new ToolError(
      "NOT_FOUND",
      "there is no session to continue in this folder; start one without --continue",
      {},
    );
  return reopen(sessions, latest.session_id, env);
}

const reopen = (sessions: SessionStore, id: string, env: NodeJS.ProcessEnv): Promise<Session> =>
  sessions.open(id).catch(async (cause: unknown) => {
    throw await explainHolder(cause, id, env);
  });

/** The lower value of each limit. */
function narrowest(one: Limits = {}, other: DeveloperMode["limits"] = {}): Limits {
  const all = [...Object.entries(one), ...Object.entries(other)].toSorted(([, a = 0], [, b = 0]) => b - a);
  return Object.fromEntries(all.filter(([, limit]) => limit !== undefined));
}
