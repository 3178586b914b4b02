import {
  type ActionText,
  action,
  defineTool,
  type Envelope,
  JOB_STATES,
  type Job,
  type JobEvent,
  JobId,
  type Jobs,
  ownerFor,
  type Published,
  pagingInput,
  type Reader,
  subjectOf,
} from "@octant/core";
import { z } from "zod";
import { INSPECT, VERIFY } from "../kinds.ts";
import { withinBudget } from "../within-budget.ts";

const DEFAULT_WAIT_MS = 20_000;
/** Below the 60 s after which many clients give up. */
const MAX_WAIT_MS = 50_000;
const MAX_EVENTS = 200;
const MAX_COUNTED = 10_000;
const MAX_SUBJECT_CHARS = 200;
const EXAMPLE_JOB = "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

const JobView = z.object({
  job_id: JobId,
  tool: z.string(),
  action: z.string(),
  subject: z.string().optional().describe("What the call is about, from its arguments"),
  state: z.enum(JOB_STATES),
  progress: z
    .object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() })
    .nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
type JobView = z.output<typeof JobView>;

/** The outcome of a finished job: an envelope, as the call itself would have returned. */
const JobResult = z.unknown().optional().describe("The call's result; absent while the job runs");

const Event = z.object({ seq: z.int(), type: z.enum(["queued", "start", "chunk", "end"]) }).loose();

export const job = (jobs: Jobs) =>
  defineTool({
    name: "job",
    summary: "Background jobs: inspect, wait for and cancel them.",
    actions: {
      status: action({
        summary: "Show a job's state, and its result once it has ended.",
        ...INSPECT,
        input: z.strictObject({ job_id: JobId.optional().describe("Absent: count jobs by state") }),
        output: z.object({
          job: JobView.optional(),
          result: JobResult,
          counts: z.record(z.string(), z.int()).optional(),
        }),
        errors: ["NOT_FOUND"],
        examples: [
          { title: "Count jobs by state", input: {} },
          { title: "Check one job", input: { job_id: EXAMPLE_JOB }, fails: "NOT_FOUND" },
        ],
        text({ job: one, result, counts = {} }, reader) {
          if (one) return jobText({ job: one, result }, reader);
          const lines = Object.entries(counts).map(([state, count]) => `${state}: ${count}`);
          return { body: lines.join("\n") || "no jobs" };
        },
        async run({ job_id }, { caller }) {
          const owner = ownerFor(caller);
          if (job_id !== undefined)
            return { job: toView(await jobs.get(owner, job_id)), result: await jobs.result(owner, job_id) };
          const all = Map.groupBy(await jobs.list({ owner, limit: MAX_COUNTED }), ({ state }) => state);
          return { counts: Object.fromEntries([...all].map(([state, some]) => [state, some.length])) };
        },
      }),
      list: action({
        summary: "List your jobs, newest first.",
        ...INSPECT,
        input: z.strictObject({
          status: z.enum(JOB_STATES).optional(),
          tool: z.string().optional(),
          max_age: z.int().min(0).optional().describe("Milliseconds"),
          ...pagingInput(50, 1000),
        }),
        output: z.object({ jobs: z.array(JobView) }),
        errors: ["INVALID_CURSOR"],
        examples: [{ title: "Failed jobs", input: { status: "failed" } }],
        text: ({ jobs: all }) => ({
          body: all.map((one) => `${one.job_id}  ${jobLine(one)}`).join("\n") || "no jobs",
        }),
        async run({ status, tool, max_age, limit }, ctx) {
          const since = max_age === undefined ? undefined : Date.now() - max_age;
          const before = ctx.resume(JobId);
          const filter = { owner: ownerFor(ctx.caller), state: status, tool, since, before };
          const found = await jobs.list({ ...filter, limit: limit + 1 });
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.job_id);
          return { jobs: page.map(toView) };
        },
      }),
      poll: action({
        summary: "Wait for a job to end or report progress.",
        ...INSPECT,
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
          const owner = ownerFor(caller);
          const now = toView(await jobs.ended(owner, job_id, wait, signal, from_seq));
          if (from_seq === undefined) {
            const next_seq = jobs.events.nextSeq;
            return { job: now, result: await jobs.result(owner, job_id), next_seq, dropped: 0 };
          }
          const { events, next_seq, dropped, restarted } = jobs.events.read(
            from_seq,
            (event) => event.job_id === job_id,
          );
          const page = withinBudget(events.slice(0, MAX_EVENTS).map(toPlain));
          const last = page.at(-1);
          return {
            job: now,
            result: await jobs.result(owner, job_id),
            events: page,
            next_seq: last && page.length < events.length ? last.seq + 1 : next_seq,
            dropped,
            ...(restarted && { restarted }),
          };
        },
      }),
      cancel: action({
        summary: "Cancel a job and every process it started.",
        ...VERIFY,
        destructive: true,
        input: z.strictObject({ job_id: JobId }),
        output: z.object({ job: JobView }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Cancel a job", input: { job_id: EXAMPLE_JOB }, fails: "NOT_FOUND" }],
        text: jobText,
        run: async ({ job_id }, { caller }) => ({ job: toView(await jobs.cancel(ownerFor(caller), job_id)) }),
      }),
    },
  });

/** A job as shown to its owner. */
const toView = ({ caller: _caller, input, key: _key, digest: _digest, ...shown }: Job): JobView => {
  const subject = subjectOf(input).slice(0, MAX_SUBJECT_CHARS).toWellFormed();
  return {
    ...shown,
    ...(subject !== "" && { subject }),
    created_at: new Date(shown.created_at).toISOString(),
    updated_at: new Date(shown.updated_at).toISOString(),
    expires_at: new Date(shown.expires_at).toISOString(),
  };
};

/** Bytes travel as base64 on a text wire. */
function toPlain({ seq, value: { job_id: _job, owner: _owner, ...event } }: Published<JobEvent>) {
  if (event.type !== "chunk" || event.chunk.kind !== "binary") return { seq, ...event };
  const base64 = Buffer.from(event.chunk.bytes).toString("base64");
  return { seq, ...event, chunk: { kind: "binary", base64 } };
}

interface JobData {
  readonly job: JobView;
  readonly result?: unknown;
  readonly events?: readonly z.output<typeof Event>[] | undefined;
  readonly next_seq?: number;
  readonly dropped?: number;
  readonly restarted?: boolean | undefined;
}

/** The job's events, then its result as the call itself would have returned it. */
function jobText(data: JobData, reader: Reader): ActionText {
  const { job: one, result, events = [], next_seq, dropped = 0, restarted } = data;
  const answer = result === undefined || result === null ? undefined : resultText(result, reader);
  return {
    body: [jobLine(one), ...events.flatMap(eventLine), ...(answer === undefined ? [] : [answer])].join("\n"),
    notes: [
      dropped > 0 && `${dropped} events lost`,
      restarted === true && "the server restarted; earlier events are lost",
    ],
    handles: answer === undefined ? { job: one.job_id, from_seq: next_seq } : {},
  };
}

function resultText(result: object, reader: Reader): string {
  // The output schema of the job's result is an envelope.
  const { meta, ...envelope } = result as Envelope;
  const { job_id: _ended, ...rest } = meta;
  return reader.envelope({ ...envelope, meta: rest });
}

function jobLine({ tool, action: name, state, progress, created_at }: JobView): string {
  const amount = progress && [progress.total && `${progress.progress}/${progress.total}`, progress.message];
  const at = state === "running" && amount ? `, ${amount.filter(Boolean).join(" ")}` : "";
  return `${tool}.${name}: ${state}${at}, started ${created_at}`;
}

function eventLine({ chunk }: z.output<typeof Event>): string[] {
  if (typeof chunk !== "object" || chunk === null) return [];
  if ("line" in chunk) return [String(chunk.line)];
  if ("text" in chunk) return [String(chunk.text).replace(/\n$/, "")];
  return "message" in chunk && chunk.message !== undefined ? [String(chunk.message)] : [];
}
