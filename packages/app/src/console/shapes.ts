import { z } from "zod";

/** The data of the actions of `console`, the tool of the person; `console-tool.ts` declares them. */

export const SessionId = z.string().min(1).max(200).describe("An unambiguous beginning is enough");

export const SessionRow = z.object({
  session_id: z.string(),
  title: z.string(),
  provider: z.string(),
  model: z.string(),
  cwd: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  turns: z.int(),
  tokens: z.int(),
  cost: z.number().nullable().describe("US dollars; null when unknown"),
  changed_files: z.array(z.string()),
  ended: z.string().nullable().describe("Why its last run ended; null while one runs, or when it was killed"),
  events: z.int(),
  parent: z
    .object({ session_id: z.string(), kind: z.enum(["agent", "fork"]) })
    .nullable()
    .describe("agent: it is a sub-agent of that session"),
  problem: z.string().nullable().describe("Why it cannot be continued"),
  open_here: z.boolean().describe("This process works in it"),
});
export type SessionRow = z.output<typeof SessionRow>;

/** A stored event of a session: docs/agent.md lists the types. */
export const SessionEvent = z.looseObject({
  seq: z.int(),
  session_id: z.string(),
  at: z.string(),
  type: z.string(),
});
export type SessionEvent = z.output<typeof SessionEvent>;

/** The effect of an undo, before or after it is applied. */
export const FileChanges = z.object({
  applied: z.boolean(),
  diff: z.string().describe("Unified diff from the current files; empty after it was applied"),
  restored: z.array(z.object({ path: z.string(), change: z.enum(["restored", "created", "removed"]) })),
  merged: z.array(z.string()).describe("Changed by others too; both changes stay"),
  conflicts: z.array(z.string()).describe("Changed by others too; left alone unless overwrite is set"),
  notes: z.array(z.string()).describe("What it leaves alone, and why"),
});
export type FileChanges = z.output<typeof FileChanges>;

/** A turn of the agent, or a command of a server with checkpoints, whose file changes can be undone. */
export const UndoableTurn = z.object({
  turn: z.int(),
  at: z.string(),
  label: z.string(),
  session_id: z.string().nullable(),
  undone: z.boolean(),
});
export type UndoableTurn = z.output<typeof UndoableTurn>;

/** A message of the person to which a session can be rewound. */
export const Checkpoint = z.object({
  seq: z.int(),
  text: z.string(),
  turns: z.int().describe("Turns that have changed files since"),
});
export type Checkpoint = z.output<typeof Checkpoint>;

const Part = z.object({
  value: z.unknown().optional().describe("Absent when it is too large to be kept"),
  cut: z.string().optional().describe("The beginning of its JSON, when it is too large"),
  bytes: z.int().describe("Approximate size"),
});

/** A recent call with its whole request and envelope, without secrets. */
export const CallDetail = z.object({
  trace_id: z.string(),
  tool: z.string(),
  action: z.string(),
  caller: z.string(),
  started_at: z.number().describe("Milliseconds since 1970"),
  duration_ms: z.number(),
  code: z.string().describe("OK, or the error's code"),
  request: Part,
  envelope: Part,
  pictures: z.array(z.object({ mime: z.string(), base64: z.string() })),
});
export type CallDetail = z.output<typeof CallDetail>;

export const Decision = z.object({
  step: z.string(),
  outcome: z.enum(["allow", "deny", "prompt"]),
  rule: z.string().optional(),
  tier: z.string().optional(),
  reason: z.string().optional(),
});

/** A record of the audit log. Which fields are set depends on its kind. */
export const AuditRow = z.object({
  kind: z.string().describe("call, job, begin, open, lost or dropped"),
  seq: z.int(),
  chain: z.string(),
  time: z.string(),
  trace: z.string().optional(),
  session: z.string().optional(),
  caller: z.string().optional(),
  action: z.string().optional(),
  code: z.string().optional(),
  duration: z.number().optional().describe("Milliseconds"),
  job: z.string().optional(),
  decisions: z.array(Decision).optional(),
  arguments: z.unknown().optional(),
  arguments_cut: z.string().optional(),
  arguments_hash: z.string().optional(),
  pid: z.int().optional(),
  records: z.int().optional(),
});
export type AuditRow = z.output<typeof AuditRow>;

export const ChainState = z.object({
  ok: z.boolean(),
  chains: z.int(),
  records: z.int(),
  dropped: z.int().describe("Records that retention removed"),
  problems: z.array(z.object({ file: z.string(), line: z.int().nullable(), what: z.string() })),
});
export type ChainState = z.output<typeof ChainState>;

/** A call that changed files, and by whom: from the logs of sessions, and for other callers from the audit log. */
export const EditRow = z.object({
  time: z.string(),
  trace: z.string().describe("Empty for a call of a session"),
  action: z.string(),
  caller: z.string(),
  session: z.string(),
  session_title: z.string().optional(),
  code: z.string(),
  files: z.array(z.string()),
  seq: z.int().optional().describe("Of a session: the number of its event; console.revert takes it back"),
  diff: z.string().optional(),
  can_revert: z.boolean(),
});
export type EditRow = z.output<typeof EditRow>;

export const Explanation = z.object({
  name: z.string(),
  outcome: z.enum(["runs", "asks", "refused"]),
  decided_by: z.string(),
  why: z.string(),
  access: z.object({ needs: z.string(), has: z.string(), passes: z.boolean() }),
  mode: z.object({ mode: z.string().nullable(), intent: z.string(), passes: z.boolean() }),
  permission: z.looseObject({
    mode: z.string(),
    tier: z.string(),
    reason: z.string(),
    setting: z.string(),
    votes: z.array(z.looseObject({ mode: z.string(), tier: z.string(), reason: z.string() })),
  }),
  hooks: z.array(z.looseObject({ event: z.string(), tool_pattern: z.string() })),
  sandbox: z.looseObject({ mode: z.string(), level: z.string(), detail: z.string() }),
  allow_rule: z.unknown().describe("The rule that would avoid the question; null when there is none"),
});
export type Explanation = z.output<typeof Explanation>;

export const SettingRow = z.object({
  key: z.string(),
  value: z.string().describe("On one line, without secrets"),
  tier: z.string(),
  file: z.string().nullable(),
  line: z.int().nullable(),
});
export type SettingRow = z.output<typeof SettingRow>;

export const HookRow = z.object({
  event: z.string(),
  tool_pattern: z.string(),
  command: z.string(),
  timeout_ms: z.number(),
});
export type HookRow = z.output<typeof HookRow>;

export const SandboxState = z.object({
  mode: z.string(),
  level: z.string(),
  detail: z.string(),
  tried: z.array(z.object({ level: z.string(), works: z.boolean(), why: z.string() })),
  unmet: z.string().optional().describe("Why commands are refused"),
  limits: z.string().optional(),
  unconfined: z.string().nullable().describe("Why nothing confines commands; null when something does"),
});
export type SandboxState = z.output<typeof SandboxState>;

/** A result of `octant doctor`. Unless it is ok, `detail` says what to do. */
export const DoctorCheck = z.object({
  name: z.string(),
  status: z.enum(["ok", "warn", "fail"]),
  detail: z.string(),
  extra: z.boolean().describe("The project does not need it"),
});
export type DoctorCheck = z.output<typeof DoctorCheck>;

/** The calls of one action, from the newest records of the audit log. */
export const LatencyRow = z.object({
  action: z.string(),
  calls: z.int(),
  errors: z.int(),
  p50: z.number(),
  p90: z.number(),
  p99: z.number(),
  max: z.number(),
});
export type LatencyRow = z.output<typeof LatencyRow>;

export const HealthState = z.object({
  pid: z.int(),
  version: z.string(),
  node: z.string(),
  platform: z.string(),
  uptime_s: z.number(),
  memory: z.object({ rss: z.int(), heap_used: z.int(), external: z.int() }).describe("Bytes"),
  cpu_ms: z.number().describe("User and system time of this process"),
  since: z.string().nullable().describe("The time of the oldest counted call"),
  latencies: z.array(LatencyRow).describe("Most calls first"),
});
export type HealthState = z.output<typeof HealthState>;

export const ToolRow = z.object({
  name: z.string(),
  summary: z.string(),
  actions: z.array(
    z.object({
      name: z.string(),
      summary: z.string(),
      access: z.enum(["read", "write", "admin"]),
      intent: z.string(),
      timing: z.string(),
      destructive: z.boolean(),
    }),
  ),
});
export type ToolRow = z.output<typeof ToolRow>;
