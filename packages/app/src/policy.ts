import type { Around } from "@octant/core";
import {
  type Checkpoints,
  createProcesses,
  excludeFromGit,
  homesOf,
  uriToPath,
  type Workspace,
} from "@octant/host";
import {
  type AddedRule,
  addLocalRule,
  type Config,
  checkCommands,
  collectSecrets,
  createAuditLog,
  createEventHooks,
  createHookRunner,
  createPolicy,
  createRedactor,
  type HookPlace,
  localFolder,
  ownRefs,
  type PermissionRule,
  type PermissionSetting,
  recordCall,
  recordRejected,
  redactErrors,
  runHooks,
  SessionAnswers,
} from "@octant/runtime";
import type { ActiveModes } from "@octant/tools";
import { auditPlaceOf } from "./audit-place.ts";
import type { OctantOptions } from "./octant-api.ts";

export interface PolicyOptions
  extends Pick<OctantOptions, "allow" | "stores" | "copyOf" | "tellsUnconfined"> {
  readonly checkpoints: Checkpoints | undefined;
  readonly config: Config;
  readonly modes: ActiveModes;
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly permissions: PermissionSetting;
  readonly log: (line: string) => void;
}

export type PolicySteps = ReturnType<typeof createPolicySteps>;

/** The dispatcher steps between a caller and the tools. */
export function createPolicySteps(options: PolicyOptions) {
  const { config, workspace, env, permissions, modes, log } = options;
  const { settings } = config;
  const { state, confinement, sandbox } = workspace;
  const redact = createRedactor({ secrets: collectSecrets(env, settings) });
  const given = options.stores?.audit;
  const audit =
    given ?? createAuditLog({ ...auditPlaceOf(state), keepBytes: settings.audit.keep_bytes, warn: log });
  const recording = { log: audit, redact, arguments: settings.audit.arguments };
  // A separate process pool: a hook can run however many commands are running.
  const processes = createProcesses({ folder: state.folder("hooks"), env, sandbox, caps: HOOK_CAPS });
  // A hook judges the call: limits of the call, or the lack of any, are not the hook's.
  // Files that the rules deny to commands are hidden from it too.
  const hookProcesses: HookPlace["processes"] = {
    exited: (...args) => processes.exited(...args),
    output: (...args) => processes.output(...args),
    kill: (...args) => processes.kill(...args),
    openExchange: (...args) => processes.openExchange(...args),
    start: async (...args) => {
      await unconfined();
      const { denials } = workspace;
      const start = () => denials.limiting({}, () => processes.start(...args));
      return denials.during(rules.denied([COMMAND]), start);
    },
  };
  const runner = createHookRunner({ processes: hookProcesses, confinement, redact, log });
  const places = {
    roots: confinement.roots,
    homes: homesOf(env),
    copyOf: options.copyOf,
    undoneBy: workspace.edits.undoneBy,
    searchPath: env.PATH,
  };
  const rules = createPolicy(config.permissions, places);
  const events = createEventHooks({
    hooks: settings.hooks,
    statusLine: settings.status_line,
    processes: hookProcesses,
    confinement,
    redact,
    filesOf: (call) => rules.named(call).files.map((uri) => uriToPath(uri, "/")),
    log,
  });
  const session = new SessionAnswers(places, options.allow);
  let isTold = options.tellsUnconfined ?? false;
  /** Also shown to the person before the first command or hook, in every front end. */
  const unconfined = async () => {
    // Starts while the levels of the sandbox are tried.
    workspace.processes.prepare();
    const found = await sandbox.unconfined();
    if (found && found.by === undefined && !isTold) log(`commands are not confined: ${found.reason}`);
    isTold ||= found !== undefined;
    return found;
  };
  return {
    rules,
    redact,
    /** People's decisions for the rest of a session. */
    sessionRules: session,
    /** Hooks of sessions. */
    events,
    auditLog: audit,
    audit: recordCall(recording),
    onRejected: recordRejected(recording),
    policy: [
      redactErrors(redact),
      modes.step,
      // Before the person is asked about a call that a hook refuses.
      events.step,
      checkCommands({
        places,
        unconfined,
        policy: rules,
        permissions,
        session,
        during: workspace.denials.during,
        limiting: workspace.denials.limiting,
        modeOf: modes.session,
        addRule: async (rule) => {
          await keepRule(workspace, rule, env);
        },
      }),
      runHooks({ hooks: settings.hooks, runner }),
      ownRefs(workspace.blobs),
    ],
    around: withinTurn(options.checkpoints),
    /** Call after the jobs have ended, so that hooks and the audit log see their outcome. */
    async close() {
      await runner.close();
      await processes.close();
      if (!given) await audit.close();
    },
  };
}

/** A hook is a command: it sees what any command sees. */
const COMMAND = { name: "proc.exec", input: {} };

/** Writes the person's rule for this project, whatever commands run in it. */
export async function keepRule(
  { confinement, sandbox }: Workspace,
  rule: PermissionRule,
  env: NodeJS.ProcessEnv,
): Promise<AddedRule> {
  const [root = "/"] = confinement.roots;
  await sandbox.allowProtected(localFolder(root));
  const added = await addLocalRule(root, rule, { env });
  excludeFromGit(confinement, root, LOCAL_SETTINGS);
  return added;
}

const LOCAL_SETTINGS = ".hanzo/settings.local.json";

const MEBIBYTE = 1024 * 1024;
const HOOK_CAPS = { head: MEBIBYTE, tail: MEBIBYTE };

/** Changes by a call belong to the agent's turn; changes between calls do not. */
const withinTurn =
  (checkpoints: Checkpoints | undefined): Around =>
  ({ tool, name, act }, work) =>
    !checkpoints || act.access === "read" || act.ownCheckpoints
      ? work()
      : checkpoints.during(`${tool.name}.${name}`, work, act.runsCommands);
