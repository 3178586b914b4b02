import {
  action,
  defineTool,
  JobId,
  mayRead,
  type Published,
  type ReadableTopic,
  ToolError,
  type Topics,
  viewOf,
} from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { withinBudget } from "../within-budget.ts";

const MAX_WAIT_MS = 50_000;
const MAX_EVENTS = 1_000;

export const event = (topics: Topics) =>
  defineTool({
    name: "event",
    summary: "Events in order: job states and output, calls, processes, sessions and more.",
    actions: {
      poll: action({
        summary: "Read events of a topic from a sequence number on; waits if there is none.",
        ...INSPECT,
        input: z.strictObject({
          topic: z.string().default("jobs").describe("event.topics lists them"),
          from_seq: z.int().min(0).default(0).describe("next_seq of the previous poll; 0: the oldest event"),
          job_id: JobId.optional().describe("Only events of this job"),
          limit: z.int().min(1).max(MAX_EVENTS).default(200),
          wait: z.int().min(0).max(MAX_WAIT_MS).default(0).describe("Maximum milliseconds"),
        }),
        output: z.object({
          events: z.array(z.object({ seq: z.int(), at: z.number() }).loose()),
          next_seq: z.int().describe("from_seq of the next poll"),
          dropped: z.int().describe("Events of this server after from_seq that are no longer retained"),
          restarted: z.boolean().describe("from_seq is from before a restart; the events after it are lost"),
        }),
        errors: ["NOT_FOUND"],
        examples: [
          { title: "Everything about jobs that is retained", input: {} },
          { title: "Calls of this server", input: { topic: "calls" } },
          { title: "An unknown topic", input: { topic: "weather" }, fails: "NOT_FOUND" },
        ],
        async run({ topic, from_seq, job_id, limit, wait }, { caller, signal }) {
          const named = topics.get(topic);
          if (!named) throw unknownTopic(topic, Object.keys(topics.all()));
          const matches = (value: unknown) =>
            mayRead(named, caller, value) && (job_id === undefined || Object(value).job_id === job_id);
          const { events } = named;
          if (wait > 0 && events.read(from_seq, matches).events.length === 0)
            await nextEvent(events, matches, AbortSignal.any([signal, AbortSignal.timeout(wait)]));
          const { next_seq, dropped, restarted, events: found } = events.read(from_seq, matches);
          const page = withinBudget(found.slice(0, limit).map((one) => toStamped(viewOf(named, one), one)));
          const last = page.at(-1);
          const isAll = page.length === found.length;
          return { events: page, next_seq: last && !isAll ? last.seq + 1 : next_seq, dropped, restarted };
        },
      }),
      topics: action({
        summary: "List the topics of this server.",
        ...INSPECT,
        input: z.strictObject({}),
        output: z.object({
          topics: z.array(z.object({ topic: z.string(), summary: z.string(), next_seq: z.int() })),
        }),
        examples: [{ title: "All of them", input: {} }],
        run: () => ({
          topics: Object.entries(topics.all()).map(([topic, { summary, events }]) => ({
            topic,
            summary,
            next_seq: events.nextSeq,
          })),
        }),
      }),
    },
  });

const toStamped = (view: object, { seq, at }: Published<unknown>) => ({ ...view, seq, at });

function unknownTopic(topic: string, names: readonly string[]): ToolError {
  return new ToolError("NOT_FOUND", `unknown topic '${topic}'; topics: ${names.join(", ")}`, { id: topic });
}

async function nextEvent(
  events: ReadableTopic<unknown>,
  matches: (value: unknown) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = events.listen(({ value }) => matches(value) && resolve());
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  stop();
}
