import { attempt } from "./attempt.ts";
import { type CallEvent, type CallObserver, toCallFacts } from "./calls.ts";
import { createContext, createNotes } from "./context.ts";
import type { Envelope } from "./envelope.ts";
import { type ErrorCode, ToolError } from "./errors.ts";
import { toIssues } from "./issues.ts";
import type { RunningJob } from "./jobs/job.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { actionOf, toolOf } from "./lookup.ts";
import { allowedIn, hasAccess, type Mode } from "./modes.ts";
import type { Cursors } from "./paging.ts";
import { createQuestions, type Questions } from "./questions/board.ts";
import type { Ask } from "./questions/question.ts";
import type { Registry } from "./registry.ts";
import { resolveAliases } from "./resolve-aliases.ts";
import { runAction } from "./run-action.ts";
import { createToEnvelope } from "./to-envelope.ts";
import type {
  AnyAction,
  Attachment,
  BinaryPart,
  Caller,
  Progress,
  StepContext,
  StreamChunk,
  Timing,
  Tool,
} from "./tool.ts";
import type { Topic } from "./topic.ts";
import { toTraceId } from "./trace.ts";

export interface Call {
  readonly tool: string;
  readonly action: unknown;
  readonly input: unknown;
}

export interface CallOptions {
  readonly caller: Caller;
  readonly signal?: AbortSignal;
  readonly traceparent?: unknown;
  readonly onProgress?: (update: Progress) => void;
  /** Receives the stream of the call while the caller waits for the answer. */
  readonly onStream?: (chunk: StreamChunk) => void;
  /** The front end of the call, which shows its questions. */
  readonly ask?: Ask | undefined;
  /** Receives the id of the job as its work starts: policy has allowed the call, and the job has events from here on. */
  readonly onJob?: (job_id: string) => void;
  /** Asks for another timing: `async_long` gets the job's id at once. A sync action stays sync. */
  readonly timingHint?: Timing;
  /** The caller's own key: the same call with the same key is the same job. */
  readonly key?: string;
  /** How long the result of a job is stored after its end; a day when absent. */
  readonly ttlMs?: number;
  /** Bytes that come with the call. */
  readonly upload?: BinaryPart;
  /** Set by a worker: the call is the work of this job. */
  readonly running?: RunningJob;
}

export interface Reply<D = unknown> {
  readonly envelope: Envelope<D>;
  readonly attachments: readonly Attachment[];
  /** For edges that can carry bytes. */
  readonly binary?: BinaryPart;
  /** The envelope as text for a model, from a dispatcher in another process whose tools know how it reads. */
  readonly text?: string;
}

export type Dispatch = (call: Call, options: CallOptions) => Promise<Reply>;

/** A call whose action was found and whose input was checked. */
export interface CheckedCall {
  readonly tool: Tool;
  readonly name: string;
  readonly act: AnyAction;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A call that was rejected before the pipeline: an unknown action or invalid input. */
export interface RejectedCall {
  readonly traceId: string;
  readonly call: Call;
  readonly caller: Caller;
  readonly code: ErrorCode;
}

/** A layer round every call. It may refuse by throwing a ToolError, and it sees the checked data on the way back. */
export type Step = (call: CheckedCall, ctx: StepContext, next: () => Promise<unknown>) => Promise<unknown>;

/** A layer round the work of a call. */
export type Around = (call: CheckedCall, work: () => Promise<unknown>) => Promise<unknown>;

export interface DispatcherOptions {
  readonly registry: Pick<Registry, "get" | "list">;
  readonly cursors: Cursors;
  readonly mode?: Mode;
  /** Without it every action is answered in place, as a sync one is. */
  readonly jobs?: Jobs;
  /** Sees every checked call first and its outcome last: the audit log. */
  readonly audit?: Step;
  /** Receives calls that never reach `audit`: unknown actions and invalid input. */
  readonly onRejected?: (call: RejectedCall) => void;
  /** Policy that runs between the mode and the action: permission, then hooks. */
  readonly policy?: readonly Step[];
  /** Surrounds the work itself, where it runs and for as long as it does: policy has allowed it. */
  readonly around?: Around;
  /** The questions of all calls; without it only the front end of a call can answer. */
  readonly questions?: Questions;
  /** Publishes the start and the end of every call. */
  readonly calls?: Topic<CallEvent>;
  /** Returns the follower of every call; undefined while nobody watches. Needs `calls`. */
  readonly observer?: () => CallObserver | undefined;
  /** Receives every failure that became INTERNAL. */
  readonly onBug: (bug: { traceId: string; call: Call; cause: unknown }) => void;
}

/** The only entry to the tools: every edge, and every test, calls the function that this returns. */
export function createDispatcher(options: DispatcherOptions): Dispatch {
  const {
    registry,
    cursors,
    mode,
    jobs,
    audit,
    onRejected,
    policy = [],
    around,
    calls,
    onBug,
    observer,
  } = options;
  const { questions = createQuestions() } = options;
  const checks = [...(audit ? [audit] : []), heedCancellation, checkAccess, checkMode(mode), ...policy];
  const check = (call: Call, traceId: string, caller: Caller): CheckedCall => {
    try {
      return checkInput(findAction(registry, call), call.input);
    } catch (cause) {
      if (cause instanceof ToolError) onRejected?.({ traceId, call, caller, code: cause.code });
      throw cause;
    }
  };

  return async (asked, given) => {
    // What has no known form, such as an object that cannot be made a text, is for the schema to refuse.
    const call = attempt(() => resolveAliases(registry, asked)) ?? asked;
    const traceId = toTraceId(given.traceparent);
    const notes = createNotes();
    const facts = calls && toCallFacts(call, traceId, given.caller);
    if (facts) observer?.()?.started({ trace_id: traceId, input: call.input });
    const started = facts && calls.publish({ ...facts, type: "started" });
    const toEnvelope = createToEnvelope(call, traceId, notes, (cause) => onBug({ traceId, call, cause }));
    const envelope = await toEnvelope(() => {
      const checked = check(call, traceId, given.caller);
      const ctx = createContext(checked, cursors, traceId, given, notes, questions);
      // The order of a call's life, in one place.
      const pipeline = [...checks, runAction(jobs, given, toEnvelope, notes, around)];
      const start = pipeline.reduceRight<() => Promise<unknown>>(
        (next, step) => () => step(checked, ctx, next),
        unreachable,
      );
      return start();
    }, given.signal);
    const attachments = envelope.ok ? notes.attachments : [];
    const reply = { envelope, attachments, ...(envelope.ok && notes.binary && { binary: notes.binary }) };
    if (facts) {
      calls.publish({
        ...facts,
        type: "ended",
        code: envelope.error?.code ?? "OK",
        ...(envelope.meta.job_id !== undefined && { job_id: envelope.meta.job_id }),
      });
      observer?.()?.ended({ ...facts, input: call.input, reply, started_at: started?.at ?? 0 });
    }
    return reply;
  };
}

const unreachable = () => Promise.reject(new Error("runAction ends the pipeline"));

function findAction(registry: DispatcherOptions["registry"], call: Call): Omit<CheckedCall, "input"> {
  const tool = registry.get(call.tool) ?? toolOf(registry.list(), call.tool);
  // actionOf has refused everything that is not the name of an action.
  return { tool, act: actionOf(tool, call.action), name: call.action as string };
}

function checkInput(found: Omit<CheckedCall, "input">, input: unknown): CheckedCall {
  const parsed = found.act.input.safeParse(input ?? {});
  if (parsed.success) return { ...found, input: parsed.data };
  const issues = toIssues(parsed.error, found.act.input, input ?? {});
  const first = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  const message = `${found.tool.name}.${found.name}: ${first}; see action 'schema' for the accepted input`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues });
}

const heedCancellation: Step = (_call, ctx, next) => {
  ctx.signal.throwIfAborted();
  return next();
};

/** The one place where access levels and projects are checked. */
const checkAccess: Step = async (call, ctx, next) => {
  const { access, target = "project" } = call.act;
  const { access: granted, project } = ctx.caller;
  const name = `${call.tool.name}.${call.name}`;
  const deny = (rule: string, message: string) => refuse(ctx, "access", rule, message);
  if (!hasAccess(granted, call.act))
    throw deny(access, `${name} needs ${access} access; this caller has ${granted}`);
  if (project === undefined) return next();
  if (target === "global")
    throw deny(
      target,
      `${name} needs access to the whole server; this caller is limited to project ${project}`,
    );
  const touched = await call.act.projectOf?.(call.input);
  if (touched === undefined || touched === project) return next();
  ctx.decided({ step: "access", outcome: "deny", rule: `project:${project}` });
  // A refusal would reveal that it exists.
  throw new ToolError(
    "NOT_FOUND",
    `project ${project}, to which this caller is limited, has nothing of this id`,
    {},
  );
};

const checkMode =
  (mode: Mode | undefined): Step =>
  (call, ctx, next) => {
    if (allowedIn(mode, call.act)) return next();
    const message = `mode ${mode} does not allow ${call.tool.name}.${call.name} (intent ${call.act.intent})`;
    throw refuse(ctx, "mode", mode ?? "", message);
  };

function refuse(ctx: StepContext, step: "access" | "mode", rule: string, message: string): ToolError {
  ctx.decided({ step, outcome: "deny", rule });
  return new ToolError("PERMISSION_DENIED", message, { by: step, rule });
}
