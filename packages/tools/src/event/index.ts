import {
  action,
  defineTool,
  type JobEvent,
  type JobEventView,
  JobId,
  type Jobs,
  toEventView,
} from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { withinBudget } from "../within-budget.ts";

const MAX_WAIT_MS = 50_000;
const MAX_EVENTS = 1_000;

export const event = (jobs: Jobs) =>
  defineTool({
    name: "event",
    summary: "State changes and output of your jobs, in order.",
    actions: {
      poll: action({
        summary: "Read events from a sequence number on; waits if there is none.",
        ...INSPECT,
        input: z.strictObject({
          from_seq: z.int().min(0).default(0).describe("next_seq of the previous poll; 0: the oldest event"),
          job_id: JobId.optional().describe("Only events of this job"),
          limit: z.int().min(1).max(MAX_EVENTS).default(200),
          wait: z.int().min(0).max(MAX_WAIT_MS).default(0).describe("Maximum milliseconds"),
        }),
        output: z.object({
          events: z.array(
            z.object({ seq: z.int(), job_id: JobId, event: z.enum(["job_state", "stream_chunk"]) }).loose(),
          ),
          next_seq: z.int().describe("from_seq of the next poll"),
          dropped: z.int().describe("Events of this server after from_seq that are no longer retained"),
          restarted: z.boolean().describe("from_seq is from before a restart; the events after it are lost"),
        }),
        examples: [{ title: "Everything that is retained", input: {} }],
        async run({ from_seq, job_id, limit, wait }, { caller, signal }) {
          const matches = (event: JobEvent) =>
            event.owner === caller.id && (job_id === undefined || event.job_id === job_id);
          const { events } = jobs;
          if (wait > 0 && events.read(from_seq, matches).events.length === 0)
            await nextEvent(jobs, matches, AbortSignal.any([signal, AbortSignal.timeout(wait)]));
          const { next_seq, dropped, restarted, events: found } = events.read(from_seq, matches);
          const page = withinBudget(found.slice(0, limit).map((event) => toPlain(toEventView(event))));
          const last = page.at(-1);
          const isAll = page.length === found.length;
          return { events: page, next_seq: last && !isAll ? last.seq + 1 : next_seq, dropped, restarted };
        },
      }),
    },
  });

async function nextEvent(
  jobs: Jobs,
  matches: (event: JobEvent) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = jobs.events.listen(({ value }) => matches(value) && resolve());
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  stop();
}

/** Bytes travel as base64 on a text wire. */
function toPlain(view: JobEventView) {
  if (view.event !== "stream_chunk" || view.chunk.kind !== "binary") return view;
  return { ...view, chunk: { kind: "binary", base64: Buffer.from(view.chunk.bytes).toString("base64") } };
}
