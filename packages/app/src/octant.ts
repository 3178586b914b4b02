import { resolve } from "node:path";
import { type Crew, createSpending, type Models } from "@octant/agent";
import {
  type CallEvent,
  createClient,
  createCursors,
  createDispatcher,
  createQuestions,
  createRegistry,
  createTopic,
  type DispatcherOptions,
  isSessionMode,
  type Mode,
  narrowestMode,
  type Questions,
  type Registry,
  type Tool,
} from "@octant/core";
import { backgroundClock, createWorkspace, type Workspace } from "@octant/host";
import { type Config, findIdleRules, loadConfig, type PermissionSetting } from "@octant/runtime";
import { createActiveModes } from "@octant/tools";
import { createCallRecorder } from "./console/call-recorder.ts";
import { CONSOLE } from "./console/name.ts";
import { createClientList } from "./control/client-list.ts";
import { createSessionRoster } from "./control/session-roster.ts";
import { startControl } from "./control/start-control.ts";
import { toTopics } from "./control/to-topics.ts";
import { EDGE } from "./edge/edge-tool.ts";
import { createEdges, LOCAL_CALLER } from "./edges.ts";
import { HOST, type HostSources } from "./host/host-tool.ts";
import type { Octant, OctantOptions } from "./octant-api.ts";
import { type ChosenPack, choosePacks } from "./packs/choose-packs.ts";
import { createPacks } from "./packs/packs.ts";
import { createPolicySteps, type PolicySteps } from "./policy.ts";
import { createMachineParts } from "./tools/machine-parts.ts";
import { GROUPS, OWN_TOOLS, type OwnTool, type Parts } from "./tools/own-tools.ts";
import { chooseNames, withoutDisabled } from "./tools/tool-choice.ts";
import { serveToolRefs } from "./tools/tool-refs.ts";
import { loadVersion } from "./version.ts";

export type { HttpServing, Octant, OctantOptions } from "./octant-api.ts";
export type { OwnTool } from "./tools/own-tools.ts";

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
  const packs = options.packs
    ? choosePacks({ packs: options.packs, isExact: options.tools !== undefined, config, env })
    : [];
  const own = chooseNames({ ...options, ...(chosen && { tools: chosen }) }, Object.keys(OWN_TOOLS), GROUPS);
  const uses = packs.flatMap(({ pack }) => pack?.uses ?? []);
  const names = Object.keys(OWN_TOOLS).filter((name) => own.includes(name) || uses.includes(name));
  const workspace = createWorkspace({
    roots: places,
    env,
    warn: log,
    sandbox: config.settings.sandbox,
    blobs: options.stores?.blobs,
  });
  try {
    return equip(workspace, config, names, packs, { ...options, env, log });
  } catch (cause) {
    void workspace.close();
    throw cause;
  }
}

function equip<T extends Tool>(
  workspace: Workspace,
  config: Config,
  names: readonly string[],
  chosenPacks: readonly ChosenPack[],
  options: OctantOptions<T> & Pick<Required<OctantOptions>, "env" | "log">,
): Octant<OwnTool | T> {
  const { version = loadVersion(), env, log, permissions = "host" } = options;
  const { settings } = config;
  const { mode, start } = splitMode(options.mode, settings.mode ?? undefined, options.switchesModes ?? false);
  const modes = createActiveModes(settings.modes, start);
  const hasCheckpoints = options.checkpoints ?? settings.checkpoints ?? options.checkpointsByDefault;
  const checkpoints = hasCheckpoints ? workspace.checkpoints : undefined;
  const steps = createPolicySteps({ ...options, config, workspace, checkpoints, permissions, modes });
  const { questions = createQuestions({ clock: backgroundClock, timeoutMs: options.approvalTimeoutMs }) } =
    options;
  const registry = createRegistry([], Date.now);
  const machine = createMachineParts(workspace, settings, env, log, (name, reading) =>
    steps.rules.denied(callsOf(registry.get(name), reading)),
  );
  const { crew, models, closeCrew } = createAgentParts(() => octant, options, permissions);
  serveToolRefs(registry, workspace.files, log);
  const recorder = createCallRecorder(steps.redact);
  const { shared, ...dispatchers } = createDispatchers(workspace, mode, steps, {
    questions,
    onBug: options.onBug ?? logBug(log),
    observer: recorder.observer,
  });
  const { rules, sessionRules, events: hooks } = steps;
  const sessions = createSessionRoster();
  const topics = toTopics({ workspace, registry, calls: shared.calls, questions, sessions });
  const parts = {
    crew,
    models,
    workspace,
    checkpoints,
    registry,
    ...machine,
    settings,
    config,
    modes,
    topics,
    openMemories: options.stores?.memory,
  };
  addTools({ ...parts, version, mode, env }, names, options);
  const warnOfIdleRules = () => {
    // Without rules, no tool need be created for this.
    if (config.permissions.length === 0) return;
    for (const warning of findIdleRules(config.permissions, registry.list())) log(warning);
  };
  const { dispatchTo } = dispatchers;
  const reserved = [...Object.keys(OWN_TOOLS), EDGE, HOST, CONSOLE];
  const packs = createPacks({
    chosen: chosenPacks,
    ...{ workspace, settings, registry, env, reserved, dispatchTo, log, onLoaded: warnOfIdleRules },
    deniedBesides: rules.deniedBesides,
  });
  // The rules for tools of packs are not idle.
  if (packs.count === 0) warnOfIdleRules();
  const dispatch = dispatchers.dispatchTo(registry);
  const clients = createClientList();
  const openPlace: HostSources["openPlace"] = async ({ allow, tools: wanted }) => {
    const { openPlace: open } = await import("./host/open-place.ts");
    const { tools, packs: named, customTools, mode: asked, stores } = options;
    const roots = [...workspace.confinement.roots];
    const given = { tools, wanted, packs: named, customTools, mode: asked, allow };
    return open({ ...given, ...(stores && { stores }), roots, env, log, config });
  };
  const { closeService, closeWorker, ...edges } = createEdges(
    {
      ...parts,
      dispatch,
      shared,
      version,
      mode,
      env,
      log,
      name: options.name ?? "octant",
      about: options.about,
      clients,
      openPlace,
    },
    // Under a host that asks, hardly any call would ever wait there.
    permissions === "enforce" ? questions : undefined,
  );
  const { command } = options;
  const control =
    command === undefined
      ? undefined
      : startControl({
          ...{ command, version, env, log, topics, sessions, questions, workspace, clients },
          calls: recorder,
          redact: steps.redact,
          keys: options.keys ?? env,
          octant: () => octant,
        });
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    await control?.[Symbol.asyncDispose]();
    closeService();
    await closeCrew();
    await closeWorker();
    await packs.close();
    await machine.close();
    await workspace.close();
    await steps.close();
  };
  const close = () => (closing ??= closeAll());
  const octant: Octant<OwnTool | T> = {
    crew,
    registry,
    packs,
    dispatch,
    workspace,
    checkpoints,
    stores: { ...options.stores, audit: steps.auditLog },
    config,
    modes,
    rules,
    sessionRules,
    hooks,
    questions,
    close,
    ...edges,
    ...dispatchers,
    fixedMode: mode,
    spending: createSpending(),
    topics,
    sessions,
    control,
    client: createClient(dispatch, { caller: LOCAL_CALLER }),
    addTool: registry.addTool,
    removeTool: registry.removeTool,
    [Symbol.asyncDispose]: close,
  };
  return octant;
}

/** The same with the tools of packs: those of the settings, and those that the options name. */
export async function openOctant<T extends Tool = never>(
  options: OctantOptions<T> = {},
): Promise<Octant<OwnTool | T>> {
  const octant = createOctant(options);
  try {
    await octant.packs.load();
    return octant;
  } catch (cause) {
    await octant.close();
    throw cause;
  }
}

/** A call of each action of the tool. */
const callsOf = (tool: Tool | undefined, reading?: "reading") =>
  Object.entries(tool?.actions ?? {})
    .filter(([, { access }]) => !reading || access === "read")
    .map(([action, act]) => ({ name: `${tool?.name}.${action}`, action: act, input: {} }));

/** Sub-agents and models; loaded on demand, because most servers have neither. */
function createAgentParts(
  octant: () => Octant,
  options: Pick<OctantOptions, "crew" | "keys"> & Required<Pick<OctantOptions, "env">>,
  permissions: PermissionSetting,
) {
  const { env, keys = env } = options;
  let crew: Promise<Crew> | undefined;
  let models: Promise<Models> | undefined;
  return {
    crew: () =>
      (crew ??= import("./agent/workspace-crew.ts").then(
        ({ createWorkspaceCrew }) =>
          options.crew?.(octant()) ?? createWorkspaceCrew({ octant: octant(), env, permissions }),
      )),
    models: () =>
      (models ??= import("./agent/workspace-models.ts").then(({ createWorkspaceModels }) =>
        createWorkspaceModels(octant(), keys),
      )),
    closeCrew: async () => (await crew)?.close(),
  };
}

function addTools(parts: Parts, names: readonly string[], options: OctantOptions) {
  // chooseNames returns only names of OWN_TOOLS.
  const create = (name: string) => OWN_TOOLS[name as keyof typeof OWN_TOOLS](parts);
  const { registry, version } = parts;
  const { customTools = [], toolConfig: { disable } = {} } = options;
  if (disable)
    for (const tool of withoutDisabled([...names.map(create), ...customTools], disable))
      registry.addTool({ version, ...tool });
  else {
    for (const name of names) registry.addToolOnUse(name, () => ({ version, ...create(name) }));
    for (const tool of customTools) registry.addTool({ version, ...tool });
  }
}

function createDispatchers(
  { state, jobs }: Workspace,
  mode: Mode | undefined,
  { audit, onRejected, policy, around }: PolicySteps,
  watching: Pick<DispatcherOptions, "onBug" | "observer"> & { readonly questions: Questions },
) {
  const calls = createTopic<CallEvent>({ now: Date.now });
  const shared = { ...watching, calls, cursors: createCursors(state.secret()) };
  type Tools = Pick<Registry, "get" | "list">;
  return {
    shared,
    dispatchTo: (registry: Tools) =>
      createDispatcher({ ...shared, registry, mode, jobs, audit, onRejected, policy, around }),
    dispatchAsPerson: (registry: Tools) => createDispatcher({ ...shared, registry, audit }),
    dispatchLooking: (registry: Tools) => {
      const { calls: _calls, observer: _observer, ...rest } = shared;
      return createDispatcher({ ...rest, registry, mode, jobs, policy, around });
    },
    dispatchUnrecorded: (registry: Tools) => {
      const { calls: _calls, observer: _observer, ...rest } = shared;
      return createDispatcher({ ...rest, registry });
    },
  };
}

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
    log(
      `settings: unknown ${unknown.length > 1 ? "tools are" : "tool is"} ignored: ${unknown.join(", ")}; octant tools lists the tools`,
    );
  return known;
}

/** The mode that binds every call, and the one that sessions begin in. A server has no person who leaves `plan`. */
function splitMode(asked: Mode | undefined, set: Mode | undefined, switches: boolean) {
  const binding = (mode: Mode | undefined) =>
    mode === undefined || (isSessionMode(mode) && (switches || mode !== "plan")) ? undefined : mode;
  const start = [asked, set].find(isSessionMode) ?? "ask";
  return { mode: narrowestMode(binding(asked), binding(set)), start };
}

const logBug =
  (log: (line: string) => void): DispatcherOptions["onBug"] =>
  ({ traceId, call, cause }) =>
    log(
      `bug in ${call.tool}.${call.action}, trace_id ${traceId}: ${cause instanceof Error ? cause.stack : cause}`,
    );
