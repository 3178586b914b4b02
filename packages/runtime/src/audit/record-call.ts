import {
  type CheckedCall,
  type Context,
  type DecisionNote,
  type ErrorCode,
  type OngoingJob,
  type Step,
  ToolError,
} from "@octant/core";
import { nameOf } from "../call-name.ts";
import type { Redact } from "../redact/redactor.ts";
import { hashArguments, type ShownArguments, showArguments } from "./arguments.ts";
import type { AuditLog } from "./audit-log.ts";
import type { JobEntry } from "./record.ts";

export interface RecordCallOptions {
  readonly log: AuditLog;
  readonly redact: Redact;
  /** Whether arguments are recorded by hash, or in full without secrets. */
  readonly arguments: "hash" | "full";
}

/**
 * The outermost step: every call is recorded with its decision and its outcome. One that may change something is on
 * disk before it runs, and refused when that fails; nothing else is waited for. The outcome of a call follows soon
 * after its answer, so that a kill between the two leaves a start without an end. For a job both are recorded: the
 * answer that named it, and its own end.
 */
export function recordCall({ log, redact, arguments: how }: RecordCallOptions): Step {
  const show = (input: CheckedCall["input"]): ShownArguments =>
    how === "full" ? showArguments(input, redact) : hashArguments(input);

  return async (call, ctx, next) => {
    const started = performance.now();
    const time = Date.now();
    const toFacts = () => ({
      time: new Date(time).toISOString(),
      trace: ctx.traceId,
      session: ctx.caller.id,
      caller: ctx.caller.id,
      action: nameOf(call),
    });
    const changes = call.act.access !== "read";
    const shown = changes ? show(call.input) : undefined;
    const began = shown && (await log.append({ kind: "begin", ...toFacts(), ...shown }));
    const end = (code: ErrorCode | "OK") => {
      const duration = since(started);
      const job = ctx.job();
      log.appendSoon(() => ({
        kind: "call",
        ...toFacts(),
        ...(began !== undefined && { began }),
        decisions: ctx.decisions.map((note) => withoutSecrets(note, redact)),
        code,
        duration,
        ...(job && { job: job.job_id }),
        ...(shown ?? show(call.input)),
      }));
      if (job) recordEnd(log, job, toFacts(), started);
    };
    let code: ErrorCode | "OK" = "OK";
    try {
      return await next();
    } catch (cause) {
      code = codeOf(cause, ctx);
      throw cause;
    } finally {
      end(code);
    }
  };
}

function recordEnd(
  log: AuditLog,
  { job_id: job, ended }: OngoingJob,
  facts: Omit<JobEntry, "kind" | "job" | "code" | "duration">,
  started: number,
): void {
  void ended?.then((code) => {
    const [time, duration] = [new Date().toISOString(), since(started)];
    log.appendSoon(() => ({ kind: "job", ...facts, time, job, code, duration }));
  });
}

const MICROSECONDS = 1_000;

const since = (started: number): number =>
  Math.round((performance.now() - started) * MICROSECONDS) / MICROSECONDS;

const withoutSecrets = (note: DecisionNote, redact: Redact) =>
  note.reason === undefined ? note : { ...note, reason: redact(note.reason) };

/** The code that the caller will receive. */
function codeOf(cause: unknown, { signal }: Context): ErrorCode {
  if (cause instanceof ToolError) return cause.code;
  return signal.aborted ? "CANCELLED" : "INTERNAL";
}
