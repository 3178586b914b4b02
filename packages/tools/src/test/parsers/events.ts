import { z } from "zod";
import type { CreateParser } from "../case.ts";

const Place = z.object({ file: z.string(), line: z.number(), col: z.number().nullish() });

const Problem = z.object({
  message: z.string(),
  stack: z.string().nullish(),
  expected: z.string().nullish(),
  actual: z.string().nullish(),
  at: Place.nullish(),
});

const Event = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("test"),
    name: z.string(),
    suite: z.array(z.string()),
    outcome: z.enum(["pass", "fail", "skip"]),
    ms: z.number().nullish(),
    file: z.string().nullish(),
    id: z.string().nullish(),
    problem: Problem.nullish(),
  }),
  z.object({ event: z.literal("broken"), name: z.string(), file: z.string().nullish(), problem: Problem }),
  z.object({ event: z.literal("end") }),
]);

/** Parses the lines of our own reporters, one JSON object each; `end` is the last. */
export const createEventsParser: CreateParser = (findings) => {
  let ended = false;
  return {
    line(line) {
      const { success, data } = Event.safeParse(toJson(line));
      if (!success) return;
      if (data.event === "end") {
        ended = true;
        return;
      }
      const file = data.file ?? undefined;
      if (data.event === "broken") {
        findings.broken({ name: data.name, file, problem: toProblem(data.problem) });
        return;
      }
      findings.test({
        name: data.name,
        suite: data.suite,
        outcome: data.outcome,
        durationMs: data.ms ?? undefined,
        file,
        id: data.id ?? undefined,
        problem: data.problem ? toProblem(data.problem) : undefined,
      });
    },
    end: () => ended,
  };
};

const toProblem = ({ message, stack, expected, actual, at }: z.output<typeof Problem>) => ({
  message,
  stack: stack ?? undefined,
  expected: expected ?? undefined,
  actual: actual ?? undefined,
  at: at ? { ...at, col: at.col ?? undefined } : undefined,
});

export function toJson(line: string): unknown {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
