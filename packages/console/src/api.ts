/**
 * The API of the console: everything that the page sends and receives. The page imports types from here and no values.
 *
 * All paths are below `/console/api`. A request has either `Authorization: Bearer <token>`, or the cookie of the page
 * and the header `X-Octant-Console: <key>` (see `KEY_HEADER`). A request that is not a GET has
 * `Content-Type: application/json`. Failures are `ApiError` with the HTTP status of their code; a failed call of a tool
 * is not a failure of the request: its envelope says so.
 *
 * | request            | body           | answer                   | scope                                |
 * |--------------------|----------------|--------------------------|--------------------------------------|
 * | GET  /me           |                | `Me`                     | any                                  |
 * | GET  /processes    |                | `ProcessList`            | any; a project token sees its server |
 * | GET  /calls        |                | `CallList`               | any; a project token sees its own    |
 * | GET  /events       |                | server-sent events       | any; a project token sees its own    |
 * | POST /call         | `CallRequest`  | `CallAnswer`             | as the action demands                |
 * | POST /answer       | `AnswerRequest`| `{}`                     | admin                                |
 * | POST /login        | `{ token }`    | `LoginAnswer`            | none; the token is checked           |
 * | POST /logout       | `{}`           | `{}`, clears the cookie  | any                                  |
 * | POST /csp-report   | by the browser | 204                      | none                                 |
 *
 * Everything else is a call: of a tool of that process, or of the person's tool `console` (`ConsoleActions`), which
 * every process has and no model sees.
 */
import type { ConsoleTool, ProcessStatus } from "@octant/app";
import { FORM_ANSWERS, PERMISSION_ANSWERS } from "@octant/core";
import { z } from "zod";

export type {
  AuditRow,
  CallDetail,
  ChainState,
  Checkpoint,
  DoctorCheck,
  EditRow,
  Explanation,
  FileChanges,
  HealthState,
  HookRow,
  LatencyRow,
  SandboxState,
  SessionEvent,
  SessionRow,
  SessionStatus as OpenSession,
  SettingRow,
  ToolRow,
  UndoableTurn,
} from "@octant/app";

export const CONSOLE_PATH = "/console";
export const API_PATH = `${CONSOLE_PATH}/api`;
/**
 * Has the page's key, without which the cookie opens nothing; any text for a login. Pages of other origins cannot send
 * it without a preflight, which is never allowed.
 */
export const KEY_HEADER = "x-octant-console";
/** A link leads to `/console/#key=<key>`; the page stores the key for its origin. */
export const KEY_FRAGMENT = "#key=";

/** The caller of this page, and what it may do. */
export const Me = z.object({
  /** `read`: no request that changes something is accepted, except logout. */
  access: z.enum(["read", "write", "admin"]),
  /** The only project of this token; null for all. */
  project: z.string().nullable(),
  /** `id` of the process that serves the console; new sessions start there. */
  process: z.string(),
  version: z.string(),
  /** Whether the console belongs to a hub: its tools are called with `process: "hub"`. */
  hub: z.boolean(),
  /** Violations of the content security policy since the start of this server. */
  csp_reports: z.int(),
});
export type Me = z.output<typeof Me>;

/** A failed request. */
export const ApiError = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});
export type ApiError = z.output<typeof ApiError>;

/** A question that waits for a person. */
export const Question = z.looseObject({
  question_id: z.string(),
  kind: z.enum(["permission", "form", "confirmation"]),
  /** Such as `fs.write`; `mcp__server` for an MCP server. */
  action: z.string(),
  caller: z.string(),
  job_id: z.string().optional(),
  /** The answers that it takes. */
  choices: z.array(z.enum([...PERMISSION_ANSWERS, ...FORM_ANSWERS])),
  asked_at: z.string(),
  /** When it is given up; null while the front end of its call shows it. */
  expires_at: z.string().nullable(),
  /** The whole question in words, as a terminal shows it. */
  text: z.string(),

  /** kind permission: the action's summary. */
  summary: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  /** The change that the call would make, such as a diff. */
  preview: z.string().optional(),
  /** Why the person is asked. */
  reason: z.string().optional(),
  /** The rule that asks, in words, and where it is written. */
  rule: z.string().optional(),
  tier: z.string().optional(),
  risk: z.array(z.enum(["destructive", "open_world", "runs_commands", "unconfined"])).optional(),
  /** The calls that "session" would allow, in words; exactly this call when absent. */
  session: z.array(z.string()).optional(),
  /** The rule that "always" would write, and its words; without it that answer is not offered. */
  always: z.object({ rule: z.record(z.string(), z.unknown()), words: z.array(z.string()) }).optional(),

  /** kind form or confirmation. */
  message: z.string().optional(),
  server: z.string().optional(),
  /** A JSON Schema of an object with flat fields. */
  schema: z.record(z.string(), z.unknown()).optional(),
  url: z.string().optional(),
  /** The label of the yes of a confirmation. */
  yes: z.string().optional(),
});
export type Question = z.output<typeof Question>;

/** An Octant process of this person. The roots are empty for a hub. */
export interface OctantProcess extends Omit<ProcessStatus, "state" | "questions"> {
  /** Names it in requests; it is unique as long as the process runs. */
  readonly id: string;
  /** `silent`: it does not respond, such as a stopped process; the other fields are the last known ones, or empty. */
  readonly state: ProcessStatus["state"] | "silent";
  readonly questions: Question[];
}

export interface ProcessList {
  readonly processes: OctantProcess[];
  /** The list is at least as new as this event of the stream; apply those after it. */
  readonly seq: number;
}

/**
 * GET /events: server-sent events over all processes, also of those that start later. Each message has
 * `id: <seq of its last event>` and `data: EventBatch`. A browser that reconnects sends Last-Event-ID and continues
 * after it; without one (or `?after=SEQ`) the stream starts now, after a first batch with `lost: 0` and no events, so
 * read /processes when that arrives. Messages are sent at most every 50 ms.
 */
export const EventBatch = z.object({
  events: z.array(z.looseObject({ seq: z.int(), at: z.number(), process: z.string(), topic: z.string() })),
  /**
   * Events before these that this reader has lost, because it was too slow or was away too long. Unless it is absent
   * or 0, read /processes and whatever else is shown again.
   */
  lost: z.int().optional(),
});

interface Stamp {
  /** Grows by one over all processes, also across restarts of the console. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `id` of an `OctantProcess`. */
  readonly process: string;
}

/** A call of a tool. The same `trace_id` comes again when it ends; short calls come once, ended. */
export interface CallRow {
  readonly trace_id: string;
  readonly tool: string;
  readonly action: string;
  readonly caller: string;
  readonly project?: string;
  /** Milliseconds since 1970. */
  readonly started_at: number;
  /** Absent while it runs. */
  readonly duration_ms?: number;
  /** OK, or the error's code; absent while it runs. */
  readonly code?: string;
  /** The work continues as this job. */
  readonly job_id?: string;
  /** Approximate; present when the request and the envelope can be read with `console.call`. */
  readonly request_bytes?: number;
  readonly answer_bytes?: number;
  /** The argument that says most about it, such as a path or a command, shortened and without secrets. */
  readonly subject?: string;
}

/** The newest calls that the console knows, oldest first, and the event up to which the list is complete. */
export interface CallList {
  readonly calls: readonly (CallRow & { readonly process: string })[];
  readonly seq: number;
}

export type ConsoleEvent = Stamp &
  (
    | { readonly topic: "calls"; readonly event: CallRow }
    /** More calls happened in this moment than are listed one by one. */
    | { readonly topic: "calls_skipped"; readonly event: { readonly count: number } }
    | { readonly topic: "questions"; readonly event: QuestionEvent }
    /** As in the session's log, and live events in between (`text_delta`, `thinking_delta`, `tool_progress`, …). */
    | { readonly topic: "sessions"; readonly event: LiveSessionEvent }
    | { readonly topic: "jobs"; readonly event: JobEvent }
    | { readonly topic: "processes"; readonly event: CommandEvent }
    | {
        readonly topic: "tools";
        readonly event: { readonly type: "added" | "removed"; readonly tool: string };
      }
    /** A process joined, changed (state, sessions, clients, questions) or left. */
    | { readonly topic: "roster"; readonly event: RosterEvent }
    /** Of tools that declare topics of their own. */
    | { readonly topic: `tool:${string}`; readonly event: Readonly<Record<string, unknown>> }
  );

export type QuestionEvent =
  | { readonly type: "asked"; readonly question: Question }
  | {
      readonly type: "answered";
      readonly question_id: string;
      readonly answer: string;
      readonly reason?: string;
      /** Who answered; absent for the person at the caller. */
      readonly by?: string;
    }
  | { readonly type: "withdrawn"; readonly question_id: string };

export interface LiveSessionEvent {
  readonly type: string;
  readonly session_id: string;
  /** The number in the session's log; of live events, that of the stored one before. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly [field: string]: unknown;
}

export type JobEvent =
  | { readonly event: "job_state"; readonly job_id: string; readonly state: string }
  | {
      readonly event: "stream_chunk";
      readonly job_id: string;
      readonly chunk:
        | {
            readonly kind: "progress";
            readonly progress: number;
            readonly total?: number;
            readonly message?: string;
          }
        | { readonly kind: "log"; readonly line: string }
        | { readonly kind: "text"; readonly text: string }
        | { readonly kind: "binary"; readonly base64: string }
        | { readonly kind: "missing"; readonly bytes?: number; readonly chunks?: number };
    };

/** A command that a tool started. Its output is read with `proc.logs` and `follow: true`. */
export interface CommandEvent {
  readonly type: "started" | "output" | "ended";
  readonly proc_id: string;
  readonly owner: string;
}

export type RosterEvent =
  | { readonly type: "joined" | "changed"; readonly process: OctantProcess }
  | { readonly type: "left" };

/** POST /call: a call in a process, through its whole pipeline: access, rules, hooks, questions, audit. */
export const CallRequest = z.strictObject({
  /** `id` of an `OctantProcess`, or "hub". */
  process: z.string(),
  tool: z.string(),
  action: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
});
export type CallRequest = z.input<typeof CallRequest>;

export const CallAnswer = z.object({
  envelope: z.object({
    ok: z.boolean(),
    data: z.unknown(),
    error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }).nullable(),
    meta: z.looseObject({
      tool: z.string(),
      action: z.string(),
      trace_id: z.string(),
      /** The work continues as a job: `job.poll` waits for it. */
      job_id: z.string().optional(),
      /** Pass `cursor` with the same input for the next page. */
      paging: z.object({ cursor: z.string().nullable(), more: z.boolean() }),
    }),
  }),
  /** Pictures and sounds of the answer. */
  attachments: z.array(z.object({ kind: z.enum(["image", "audio"]), mime: z.string(), base64: z.string() })),
});
export type CallAnswer = z.output<typeof CallAnswer>;

/** POST /answer: the first answer counts, wherever it is given; a late one fails with NOT_FOUND. */
export const AnswerRequest = z.strictObject({
  process: z.string(),
  question_id: z.string(),
  answer: z.enum([...PERMISSION_ANSWERS, ...FORM_ANSWERS]),
  /** Why it is denied; the model reads it. */
  reason: z.string().max(1_000).optional(),
  /** The values of a form. */
  content: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
    .optional(),
});
export type AnswerRequest = z.input<typeof AnswerRequest>;

export const LoginRequest = z.strictObject({ token: z.string().min(1).max(10_000) });
export type LoginRequest = z.input<typeof LoginRequest>;

/** The answer sets the cookie that belongs to the key. */
export const LoginAnswer = z.object({ key: z.string() });
export type LoginAnswer = z.output<typeof LoginAnswer>;

type Actions = ConsoleTool["actions"];
/** The inputs and outputs of the actions of the tool `console`, as their declarations say. */
export type ConsoleActions = {
  readonly [A in keyof Actions]: {
    readonly input: z.input<Actions[A]["input"]>;
    readonly output: z.output<Actions[A]["output"]>;
  };
};
