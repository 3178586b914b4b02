import { z } from "zod";
import type { CreateParser } from "../case.ts";

/** Our Python reporters write null for an absent value. */
const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

const Problem = z.object({
  message: z.string(),
  stack: maybe(z.string()),
  expected: maybe(z.string()),
  actual: maybe(z.string()),
  at: maybe(z.object({ file: z.string(), line: z.number(), col: maybe(z.number()) })),
});

const Event = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("test"),
    name: z.string(),
    suite: z.array(z.string()),
    outcome: z.enum(["pass", "fail", "skip"]),
    ms: maybe(z.number()),
    file: maybe(z.string()),
    id: maybe(z.string()),
    problem: maybe(Problem),
  }),
  z.object({ event: z.literal("broken"), name: z.string(), file: maybe(z.string()), problem: Problem }),
  z.object({ event: z.literal("end") }),
]);

/** Parses the lines of our own reporters, one JSON object each; `end` is the last. */
export const createEventsParser: CreateParser = (findings) => {
  let ended = false;
  return {
    line(line) {
      const { data } = Event.safeParse(toJson(line));
      if (data?.event === "end") ended = true;
      if (data?.event === "broken") {
        const { event: _event, ...breakage } = data;
        findings.broken(breakage);
      }
      if (data?.event === "test") {
        const { event: _event, ms, ...test } = data;
        findings.test({ ...test, durationMs: ms });
      }
    },
    end: () => ended,
  };
};

export function toJson(line: string): unknown {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
