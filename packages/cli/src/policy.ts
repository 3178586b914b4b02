import type { CheckedCall, DispatcherOptions } from "@octant/core";
import { createProcesses, type Workspace } from "@octant/host";
import {
  type ApprovalQueue,
  addLocalRule,
  askInOrder,
  askThroughClient,
  type Config,
  checkPermission,
  collectSecrets,
  createApprovalQueue,
  createAuditLog,
  createHookRunner,
  createPolicy,
  createRedactor,
  createSessionAnswers,
  type PermissionPrompter,
  type PermissionRule,
  type PermissionSetting,
  type Policy,
  recordCall,
  recordUnfit,
  redactErrors,
  runHooks,
  type SessionAnswers,
  toAuditKey,
} from "@octant/runtime";
import type { ActiveModes } from "@octant/tools";

export interface PolicyOptions {
  readonly config: Config;
  readonly modes: ActiveModes;
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly permissions: PermissionSetting;
  /** Asked where rules ask; by default the client that calls, or else whoever answers approvals. */
  readonly prompter?: PermissionPrompter;
  /** What the person has allowed for this run. */
  readonly allow?: readonly PermissionRule[];
  /** How long a call waits for an approval; some minutes when absent. */
  readonly approvalTimeoutMs?: number;
  readonly log: (line: string) => void;
}

/** What stands between a caller and the tools. */
export interface PolicySteps extends Required<Pick<DispatcherOptions, "audit" | "onUnfit" | "policy">> {
  readonly rules: Policy;
  /** What people have decided for the rest of a session. */
  readonly sessionRules: SessionAnswers;
  /** Where calls wait that a person has to allow, and whose client cannot ask them. */
  readonly approvals: ApprovalQueue;
  /** After the jobs have ended, so that what they did is told to hooks and recorded. */
  close(): Promise<void>;
}

export function createPolicySteps(options: PolicyOptions): PolicySteps {
  const { config, workspace, env, permissions, modes, log } = options;
  const approvals = createApprovalQueue(options.approvalTimeoutMs);
  const { prompter = askInOrder([askThroughClient, approvals]) } = options;
  const { settings } = config;
  const { state, confinement, sandbox } = workspace;
  const redact = createRedactor({ secrets: collectSecrets(env, settings) });
  const audit = createAuditLog({
    folder: state.folder("audit"),
    witnesses: state.folder("audit-witness"),
    key: toAuditKey(state.secret()),
    keepBytes: settings.audit.keep_bytes,
    warn: log,
  });
  const recording = { log: audit, redact, arguments: settings.audit.arguments, nameOf };
  // Processes of their own: however many commands run, a hook can still say no.
  const processes = createProcesses({ folder: state.folder("hooks"), env, sandbox, caps: HOOK_CAPS });
  const runner = createHookRunner({ processes, confinement, redact, log });
  const places = { roots: confinement.roots };
  const rules = createPolicy(config.permissions, places);
  const [root = "/"] = confinement.roots;
  const session = createSessionAnswers(places, options.allow);
  return {
    rules,
    sessionRules: session,
    approvals,
    audit: recordCall(recording),
    onUnfit: recordUnfit(recording),
    policy: [
      redactErrors(redact),
      modes.step,
      checkPermission({
        nameOf,
        policy: rules,
        permissions,
        session,
        prompter,
        addRule: async (rule) => {
          await addLocalRule(root, rule, { env });
        },
      }),
      runHooks({ hooks: settings.hooks, runner, nameOf }),
    ],
    async close() {
      await runner.close();
      await processes.close();
      audit.close();
    },
  };
}

/** Rules, hooks and the audit log know the tool of an MCP server by its whole name. */
const nameOf = ({ tool, name }: CheckedCall): string =>
  tool.name.startsWith("mcp__") ? tool.name : `${tool.name}.${name}`;

const MEBIBYTE = 1024 * 1024;
const HOOK_CAPS = { head: MEBIBYTE, tail: MEBIBYTE };
