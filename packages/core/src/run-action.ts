import { AsyncLocalStorage } from "node:async_hooks";
import type { Notes } from "./context.ts";
import type { Around, CallOptions, CheckedCall, Step } from "./dispatch.ts";
import type { ErrorBody } from "./envelope.ts";
import { type ErrorCode, ToolError } from "./errors.ts";
import { hideInError, withoutHidden } from "./hidden.ts";
import { type Job, type JobWork, PATIENCE_MS, type RunningJob } from "./jobs/job.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { ToEnvelope } from "./to-envelope.ts";
import type { Context, StepContext, Timing } from "./tool.ts";

/** The last step of every call: a sync action runs in place, any other as a job. */
export const runAction =
  (jobs: Jobs | undefined, given: CallOptions, toEnvelope: ToEnvelope, notes: Notes, around?: Around): Step =>
  (call, ctx) => {
    const { timing } = call.act;
    const work = (inner: Context) => perform(call, inner, notes, around);
    if (timing === "sync") return work(ctx);
    if (given.running) return runInJob(work, ctx, given.running);
    if (!jobs) return runDetachable(call, work, ctx, notes);
    return runAsJob(jobs, toPatience(timing, given.timingHint), given, toEnvelope, notes)(call, work, ctx);
  };

/** The work of a call, inside its layers. */
type Work = (ctx: Context) => Promise<unknown>;

async function perform(call: CheckedCall, ctx: Context, notes: Notes, around?: Around): Promise<unknown> {
  const run = async () => call.act.run(call.input, ctx);
  try {
    return checkOutput(call, await (around ? around(call, run) : run()), notes);
  } catch (cause) {
    throw notes.hides ? hideInError(cause, notes.hides) : cause;
  }
}

/** The data of an answer, without the parts that rules hide from the call. */
function checkOutput({ act }: CheckedCall, data: unknown, notes: Notes): unknown {
  const checked = act.output.parse(data);
  if (!notes.hides) return checked;
  return withoutHidden(act.output, checked, notes.hides, (reason) => {
    notes.leftOut = reason;
  });
}

/** Without jobs, an action that detaches is answered, but its end cannot be polled. */
function runDetachable(call: CheckedCall, work: Work, ctx: Context, notes: Notes): Promise<unknown> {
  const answered = Promise.withResolvers<unknown>();
  const detach = (data: unknown) => answered.resolve(checkOutput(call, data, notes));
  return Promise.race([work({ ...ctx, detach }), answered.promise]);
}

/** The action of a job that is running, in the process that submitted it or in one that claimed it. */
function runInJob(
  work: Work,
  ctx: StepContext,
  { job_id, signal, emit, detach }: RunningJob,
  more: Partial<Context> = {},
): Promise<unknown> {
  signal.throwIfAborted();
  const inJob: Context = {
    ...ctx,
    signal,
    emit,
    progress: (update) => emit({ kind: "progress", ...update }),
    detach: () => detach(),
    ...more,
  };
  return work({ ...inJob, ask: ctx.askWith({ job_id, signal, progress: inJob.progress }) });
}

/** Waits as long as the timing says; then the answer is the job, or the data that the action detached with. */
const runAsJob =
  (jobs: Jobs, patienceMs: number, given: CallOptions, toEnvelope: ToEnvelope, notes: Notes) =>
  async (call: CheckedCall, work: Work, ctx: StepContext): Promise<unknown> => {
    let interim: { readonly data: unknown } | undefined;
    let ended: Promise<ErrorCode | "OK"> | undefined;
    let isWaiting = true;
    const { job, result } = await jobs.run({
      tool: call.tool.name,
      action: call.name,
      input: call.input,
      caller: ctx.caller,
      key: given.key,
      ttlMs: given.ttlMs,
      patienceMs,
      signal: ctx.signal,
      // A queued job starts when another one ends, and must not inherit the context of that one.
      work: AsyncLocalStorage.bind<JobWork>((running) => {
        given.onJob?.(running.job_id);
        const settled = toEnvelope(
          async () =>
            runInJob(work, ctx, running, {
              emit(chunk) {
                running.emit(chunk);
                if (isWaiting) ctx.emit(chunk);
              },
              progress(update) {
                running.emit({ kind: "progress", ...update });
                if (isWaiting) ctx.progress(update);
              },
              detach(data) {
                interim ??= { data: checkOutput(call, data, notes) };
                running.detach();
              },
            }),
          running.signal,
        );
        ended = settled.then(({ error }) => error?.code ?? "OK");
        return settled;
      }),
    });
    isWaiting = false;
    if (result) {
      // The dispatcher returns this envelope itself, unless a step changes the outcome.
      notes.settled = result.ok ? { envelope: result } : { envelope: result, cause: toCause(result.error) };
      if (result.ok) return result.data;
      throw notes.settled.cause;
    }
    notes.job = { job_id: job.job_id, ...(ended && { ended }) };
    return interim ? interim.data : toJobStarted(job);
  };

const toCause = ({ code, message, details }: ErrorBody) => new ToolError(code, message, details);

/** A hint changes how long the caller waits; a sync action stays sync, and any other stays a job. */
const toPatience = (timing: Exclude<Timing, "sync">, hint: Timing | undefined): number =>
  PATIENCE_MS[hint === undefined || hint === "sync" ? timing : hint];

/** The data of an answer that comes before the result. */
const toJobStarted = ({ job_id, state }: Job) => ({
  job_id,
  state,
  note: `${state === "queued" ? "waiting for its turn" : "still running"}; job.poll with this job_id waits for the result, job.cancel ends it`,
});
