import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  action,
  createCursors,
  createDispatcher,
  createJobEvents,
  createJobs,
  createRegistry,
  createWorker,
  defineTool,
  type Jobs,
  type Worker,
} from "@octant/core";
import { z } from "zod";
import { systemClock } from "../../src/jobs/clock.ts";
import { createJobStore } from "../../src/jobs/job-store.ts";

const POLL_MS = 20;

const gateTool = defineTool({
  name: "gate",
  summary: "Waits at a gate.",
  actions: {
    pass: action({
      summary: "Wait until a file exists, or pass at once.",
      access: "write",
      timing: "async_long",
      intent: "verify",
      input: z.strictObject({ gate: z.string(), hold: z.boolean() }),
      output: z.object({ pid: z.int() }),
      examples: [{ title: "Pass", input: { gate: "/tmp/gate", hold: false } }],
      async run({ gate, hold }, { signal }) {
        while (hold && !existsSync(gate)) await delay(POLL_MS, undefined, { signal });
        return { pid: process.pid };
      },
    }),
  },
});

/** Runs the jobs of the tool `gate`. */
export function startWorker(
  jobs: Jobs,
  { onStart = () => {} }: { onStart?: (job_id: string, owner: string) => void } = {},
): Worker {
  const registry = createRegistry([gateTool]);
  jobs.events.listen(({ value }) => value.type === "start" && onStart(value.job_id, value.owner));
  const dispatch = createDispatcher({
    registry,
    jobs,
    cursors: createCursors(Buffer.from("test")),
    onBug: ({ cause }) => process.stderr.write(`${cause}\n`),
  });
  return createWorker({ jobs, dispatch, registry, clock: systemClock, pollMs: POLL_MS });
}

const [, script, folder, role] = process.argv;
if (script === import.meta.filename && folder !== undefined) {
  const store = createJobStore(join(folder, "jobs.sqlite"));
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents(), maxRunning: 1 });
  const caller = { id: "me", access: "write" } as const;
  if (role === "submitter") {
    const ids: string[] = [];
    for (const [gate, hold] of [
      ["never", true],
      ["one", false],
      ["two", false],
      ["three", false],
    ] as const) {
      const input = { gate: join(folder, gate), hold };
      ids.push((await jobs.enqueue({ tool: "gate", action: "pass", input, caller })).job_id);
    }
    process.stdout.write(`${ids.join(" ")}\n`);
  }
  startWorker(jobs, { onStart: (job_id, owner) => process.stdout.write(`running ${job_id} for ${owner}\n`) });
}
