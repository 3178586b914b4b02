import { ANSWER_BYTES, action, type JobEvent, JobId, type Jobs, type Published } from "@octant/core";
import { z } from "zod";
import { EXAMPLE_JOB, JobResult, JobView, toJobView } from "./job-view.ts";
import { jobText } from "./text.ts";

const DEFAULT_WAIT_MS = 20_000;
/** Below the 60 s after which many clients give up. */
const MAX_WAIT_MS = 50_000;
const MAX_EVENTS = 200;

const Event = z.object({ seq: z.int(), type: z.enum(["queued", "start", "chunk", "end"]) }).loose();

export const poll = (jobs: Jobs) =>
  action({
    summary: "Wait for a job to end or report progress.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({
      job_id: JobId,
      from_seq: z
        .int()
        .min(0)
        .optional()
        .describe("next_seq of the previous poll; absent: wait only for the end"),
      wait: z.int().min(0).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Maximum milliseconds"),
    }),
    output: z.object({
      job: JobView,
      result: JobResult,
      events: z.array(Event).optional(),
      next_seq: z.int().describe("from_seq of the next poll"),
      dropped: z.int().describe("Events dropped because the reader was slow"),
      restarted: z
        .boolean()
        .optional()
        .describe("from_seq is from before a server restart; the events after it are lost"),
    }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "Wait for the end", input: { job_id: EXAMPLE_JOB }, fails: "NOT_FOUND" }],
    text: jobText,
    async run({ job_id, from_seq, wait }, { caller, signal }) {
      if (from_seq === undefined) {
        const job = await jobs.ended(caller.id, job_id, wait, signal);
        const next_seq = jobs.events.nextSeq;
        return { job: toJobView(job), result: await jobs.result(caller.id, job_id), next_seq, dropped: 0 };
      }
      const job = await jobs.wait(caller.id, job_id, from_seq, wait, signal);
      const { events, next_seq, dropped, restarted } = jobs.events.read(
        from_seq,
        (event) => event.job_id === job_id,
      );
      const page = withinBudget(events);
      const last = page.at(-1);
      return {
        job: toJobView(job),
        result: await jobs.result(caller.id, job_id),
        events: page.map(toPlain),
        next_seq: last && page.length < events.length ? last.seq + 1 : next_seq,
        dropped,
        ...(restarted && { restarted }),
      };
    },
  });

/** As many events as fit into one answer, but at least one, so that a reader makes progress. */
function withinBudget(events: readonly Published<JobEvent>[]): readonly Published<JobEvent>[] {
  let chars = 0;
  const end = events.findIndex((event, index) => {
    chars += JSON.stringify(toPlain(event)).length;
    return index > 0 && (index >= MAX_EVENTS || chars > ANSWER_BYTES);
  });
  return end === -1 ? events : events.slice(0, end);
}

/** Bytes travel as base64 on a text wire. */
function toPlain({ seq, value: { job_id: _job, owner: _owner, ...event } }: Published<JobEvent>) {
  if (event.type !== "chunk" || event.chunk.kind !== "binary") return { seq, ...event };
  return {
    seq,
    ...event,
    chunk: { kind: "binary", base64: Buffer.from(event.chunk.bytes).toString("base64") },
  };
}
