import { resolve } from "node:path";
import { type Crew, createSpending, type Models } from "@octant/agent";
import {
  type CallEvent,
  type Caller,
  createClient,
  createCursors,
  createDispatcher,
  createRegistry,
  createTopic,
  createWorker,
  type DispatcherOptions,
  type Mode,
  type Registry,
  type Tool,
  type Worker,
} from "@octant/core";
import {
  backgroundClock,
  createGit,
  createWorkspace,
  listRefNames,
  pathToUri,
  type Workspace,
} from "@octant/host";
import { createTokenStore, mountApprovals } from "@octant/http";
import { createConnection, createService, serveHttp, serveStdio } from "@octant/mcp";
import { type Config, findIdleRules, loadConfig } from "@octant/runtime";
import { createActiveModes } from "@octant/tools";
import { createWireDispatch } from "./edge-tool.ts";
import { createMachineParts } from "./machine-parts.ts";
import { createMcpFeatures } from "./mcp-features.ts";
import type { Octant, OctantOptions } from "./octant-api.ts";
import { GROUPS, OWN_TOOLS, type OwnTool } from "./own-tools.ts";
import { createPolicySteps } from "./policy.ts";
import { chooseNames, withoutDisabled } from "./tool-choice.ts";
import { serveToolRefs } from "./tool-refs.ts";
import { loadVersion } from "./version.ts";

export type { HttpServing, Octant, OctantOptions, Topics } from "./octant-api.ts";
export type { OwnTool } from "./own-tools.ts";

/** The caller on this machine: the person who started the process, or a client of theirs. */
export const LOCAL_CALLER: Caller = { id: "local", access: "admin" };

/**
 * Wires workspace, tools and dispatcher. Throws a TypeError when an option names something that does not
 * exist.
 */
export function createOctant<T extends Tool = never>(options: OctantOptions<T> = {}): Octant<OwnTool | T> {
  const { projectPath = process.cwd(), roots = [projectPath], env = process.env, log = () => {} } = options;
  const places = roots.map((root) => resolve(root));
  const config = options.config ?? loadConfig({ roots: places, env });
  for (const warning of config.warnings) log(warning);
  const chosen = options.tools ?? knownTools(config.settings.tools ?? undefined, log);
  const names = chooseNames({ ...options, ...(chosen && { tools: chosen }) }, Object.keys(OWN_TOOLS), GROUPS);
  const workspace = createWorkspace({ roots: places, env, warn: log, sandbox: config.settings.sandbox });
  try {
    return equip(workspace, config, names, { ...options, env, log });
  } catch (cause) {
    void workspace.close();
    throw cause;
  }
}

function equip<T extends Tool>(
  workspace: Workspace,
  config: Config,
  names: readonly string[],
  options: OctantOptions<T> & Pick<Required<OctantOptions>, "env" | "log">,
): Octant<OwnTool | T> {
  const { name = "octant", version = loadVersion(), customTools = [], env, log } = options;
  const { permissions = "host", prompter, approvalTimeoutMs } = options;
  const modes = createActiveModes(config.settings.modes);
  const mode = narrowestMode(options.mode, config.settings.mode ?? undefined);
  const {
    rules,
    sessionRules,
    audit,
    onUnfit,
    policy,
    approvals,
    close: closePolicy,
  } = createPolicySteps({
    ...{ config, workspace, env, permissions, modes, log },
    ...(prompter && { prompter }),
    ...(options.allow && { allow: options.allow }),
    ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
  });
  const registry = createRegistry([]);
  serveToolRefs(registry, workspace.files, log);
  const { settings } = config;
  const machine = createMachineParts(workspace, settings, env, log);
  const hasCheckpoints = options.checkpoints ?? settings.checkpoints ?? options.checkpointsByDefault ?? false;
  const checkpoints = hasCheckpoints ? workspace.checkpoints : undefined;
  let crew: Promise<Crew> | undefined;
  const openCrew = () =>
    (crew ??= (async () => {
      // Loaded on demand: most servers have no sub-agents.
      const { createWorkspaceCrew } = await import("./agent/workspace-crew.ts");
      return options.crew?.(octant) ?? createWorkspaceCrew({ octant, env, permissions });
    })());
  let models: Promise<Models> | undefined;
  const openModels = () =>
    (models ??= import("./agent/workspace-models.ts").then(({ createWorkspaceModels }) =>
      createWorkspaceModels(octant, options.keys ?? env),
    ));
  const parts = {
    crew: openCrew,
    models: openModels,
    workspace,
    checkpoints,
    registry,
    ...machine,
    settings,
    config,
    modes,
    version,
    mode,
    env,
  };
  // chooseNames returns only names of OWN_TOOLS.
  const own = names.map((tool) => OWN_TOOLS[tool as keyof typeof OWN_TOOLS](parts));
  for (const tool of withoutDisabled([...own, ...customTools], options.toolConfig?.disable))
    registry.addTool({ version, ...tool });
  for (const warning of findIdleRules(config.permissions, registry.list())) log(warning);
  const calls = createTopic<CallEvent>({ now: Date.now });
  const onBug = options.onBug ?? logBug(log);
  const dispatchTo = (tools: Pick<Registry, "get" | "list">) =>
    createDispatcher({
      calls,
      registry: tools,
      cursors: createCursors(workspace.state.secret()),
      mode,
      jobs: workspace.jobs,
      audit,
      onUnfit,
      policy,
      onBug,
    });
  const dispatch = dispatchTo(registry);
  const features = createMcpFeatures({
    registry,
    dispatch,
    workspace,
    watcher: machine.watcher,
    refs: ({ signal }) =>
      listRefNames(createGit({ ...workspace, env, allow: settings.vcs }).open(undefined, signal)),
  });
  const rootUris = workspace.confinement.roots.map(pathToUri);
  const edge = {
    registry,
    dispatch,
    name,
    version,
    instructions: INSTRUCTIONS,
    mode,
    caller: LOCAL_CALLER,
    roots: rootUris,
    secret: workspace.state.secret(),
    log,
    ...features,
  };
  const tokens = () => createTokenStore({ folder: workspace.state.folder("tokens") });
  let worker: Worker | undefined;
  let service: ReturnType<typeof createService> | undefined;
  /**
   * A server runs queued jobs, also those of other processes; one limited to a mode would refuse some of
   * them.
   */
  const startWorker = () => {
    if (mode === undefined)
      worker ??= createWorker({ jobs: workspace.jobs, dispatch, registry, clock: backgroundClock });
  };
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAll());
  const closeAll = async () => {
    service?.close();
    await (await crew)?.close();
    await worker?.close();
    await machine.close();
    await workspace.close();
    await closePolicy();
  };
  const octant: Octant<OwnTool | T> = {
    crew: openCrew,
    spending: createSpending(),
    registry,
    dispatch,
    wireDispatch: createWireDispatch({
      ...{ registry, dispatch, onBug, roots: rootUris, jobs: workspace.jobs, resources: features.resources },
      cursors: createCursors(workspace.state.secret()),
    }),
    dispatchTo,
    topics: {
      calls,
      approvals: approvals.events,
      jobs: workspace.jobs.events,
      processes: workspace.processes.events,
      tools: registry.changes,
    },
    client: createClient(dispatch, { caller: LOCAL_CALLER }),
    workspace,
    checkpoints,
    config,
    modes,
    fixedMode: mode,
    rules,
    sessionRules,
    dispatchAsPerson: (tools) =>
      createDispatcher({
        calls,
        registry: tools,
        cursors: createCursors(workspace.state.secret()),
        audit,
        onBug,
      }),
    addTool: registry.addTool,
    removeTool: registry.removeTool,
    tokens,
    async serveHttp(more = {}) {
      startWorker();
      const access = { tokens: tokens(), project: workspace.state.id };
      const server = await serveHttp({ ...withoutCaller(edge), ...more, ...access });
      // Under a host that asks, or with another prompter, no call would ever wait there.
      if (permissions === "enforce" && !prompter) mountApprovals(server, approvals, { ...more, ...access });
      return server;
    },
    openConnection(caller, outlet) {
      startWorker();
      service ??= createService(edge);
      return createConnection({ ...service, caller }, outlet);
    },
    serveStdio: ({ input = process.stdin, output = process.stdout, ...more } = {}) => {
      startWorker();
      return serveStdio({ ...edge, input, output, ...more });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return octant;
}

const withoutCaller = <E extends { readonly caller: Caller }>({ caller: _caller, ...edge }: E) => edge;

/**
 * A name from another version, or of a pack that is not installed, must not prevent the server from starting.
 */
function knownTools(
  names: readonly string[] | undefined,
  log: (line: string) => void,
): readonly string[] | undefined {
  const known = names?.filter((name) => Object.hasOwn(OWN_TOOLS, name));
  const unknown = names?.filter((name) => !Object.hasOwn(OWN_TOOLS, name)) ?? [];
  if (unknown.length > 0)
    log(`settings: no tool '${unknown.join("', '")}' here, ignored; octant tools lists them`);
  return known;
}

/** A mode in the settings narrows the requested one: two different modes have only reading in common. */
const narrowestMode = (asked: Mode | undefined, set: Mode | undefined): Mode | undefined =>
  asked && set && asked !== set ? "inspect" : (asked ?? set);

/** Instructions for the model before its first call. */
export const INSTRUCTIONS = [
  "Call ws.detect first: it reports what the project is and how to build and test it.",
  "fs.read answers with a hash; fs.apply_patch wants it as base_hash, and its answer has an undo ref.",
  "An answer with meta.job_id is still running: job.poll waits for its result.",
  "What does not fit is behind a ref (fs.read) or meta.paging.cursor. Every tool has help and schema.",
].join(" ");

const logBug =
  (log: (line: string) => void): DispatcherOptions["onBug"] =>
  ({ traceId, call, cause }) =>
    log(
      `bug in ${call.tool}.${call.action}, trace_id ${traceId}: ${cause instanceof Error ? cause.stack : cause}`,
    );
