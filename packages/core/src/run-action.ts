import { createHash } from "node:crypto";
import type { Notes } from "./context.ts";
import type { CallOptions, Step } from "./dispatch.ts";
import type { Envelope } from "./envelope.ts";
import { ToolError } from "./errors.ts";
import { type Job, type JobState, type Jobs, PATIENCE_MS } from "./jobs/index.ts";
import type { Settle } from "./settle.ts";
import type { Context, Timing } from "./tool.ts";

/** The last step of every call: a sync action runs in place, any other as a job. */
export const runAction =
  (jobs: Jobs | undefined, given: CallOptions, settle: Settle, notes: Notes): Step =>
  (call, ctx, next) => {
    const { timing } = call.act;
    if (timing === "sync") return runInPlace(call, ctx, next);
    if (!jobs) return runUnwatched(call, ctx, next);
    return runAsJob(jobs, toPatience(timing, given.timingHint), given, settle, notes)(call, ctx, next);
  };

const runInPlace: Step = async ({ act, input }, ctx) => act.output.parse(await act.run(input, ctx));

/** Where there are no jobs, an action that detaches is answered too, but nobody can ask how it ended. */
const runUnwatched: Step = (call, ctx, next) => {
  const answered = Promise.withResolvers<unknown>();
  const detach = (data: unknown) => answered.resolve(call.act.output.parse(data));
  return Promise.race([runInPlace(call, { ...ctx, detach }, next), answered.promise]);
};

/** Waits as long as the timing says; then the answer is the job, or what the action detached with. */
const runAsJob =
  (jobs: Jobs, patienceMs: number, given: CallOptions, settle: Settle, notes: Notes): Step =>
  async (call, ctx, next) => {
    const { key } = given;
    let interim: { readonly data: unknown } | undefined;
    let work: Promise<Envelope> | undefined;
    let waiting = true;
    const { job, result } = await jobs.run({
      tool: call.tool.name,
      action: call.name,
      owner: ctx.caller.id,
      key,
      digest: key === undefined ? undefined : digestOf(call.input),
      patienceMs,
      signal: ctx.signal,
      work: ({ signal, emit, detach }) => {
        const inJob: Context = {
          ...ctx,
          signal,
          emit,
          // Whoever cancels the job must not wait for an answer.
          ask: (question) => given.ask?.(question, signal) ?? Promise.resolve(undefined),
          progress(update) {
            emit({ kind: "progress", ...update });
            if (waiting) ctx.progress(update);
          },
          detach(data) {
            interim ??= { data: call.act.output.parse(data) };
            detach();
          },
        };
        work = settle(() => runInPlace(call, inJob, next), signal);
        return work;
      },
    });
    waiting = false;
    if (result?.ok) return result.data;
    if (result) throw new ToolError(result.error.code, result.error.message, result.error.details);
    const ended = work?.then(({ error }) => error?.code ?? "OK");
    notes.job = { job_id: job.job_id, ...(ended && { ended }) };
    return interim ? interim.data : toJobStarted(job);
  };

/** A hint can make the caller wait less or more, but not make a job of a sync action, nor the other way round. */
const toPatience = (timing: Exclude<Timing, "sync">, hint: Timing | undefined): number =>
  PATIENCE_MS[hint === undefined || hint === "sync" ? timing : hint];

const digestOf = (input: unknown) => createHash("sha256").update(JSON.stringify(input)).digest("base64url");

/** The data of an answer that came before the outcome. */
export interface JobStarted {
  readonly job_id: string;
  readonly state: JobState;
  readonly note: string;
}

const toJobStarted = ({ job_id, state }: Job): JobStarted => ({
  job_id,
  state,
  note: "still at work; job.poll with this job_id waits for the result, job.cancel ends it",
});
