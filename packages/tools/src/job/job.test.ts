import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  action,
  createCursors,
  createDispatcher,
  createJobEvents,
  createJobs,
  createRegistry,
  defineTool,
  type Envelope,
  type Timing,
  ToolError,
} from "@octant/core";
import { createJobStore, systemClock } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { job } from "./index.ts";

/** An action of each timing that waits until the test releases it. */
function createKettle() {
  let whistle = (_: { cups: number }) => {};
  const boiled = new Promise<{ cups: number }>((done) => (whistle = done));
  const boil = (timing: Timing) =>
    action({
      summary: "Boil water.",
      access: "write",
      timing,
      intent: "verify",
      input: z.strictObject({ how: z.enum(["wait", "fail", "detach", "at_once"]) }),
      output: z.object({ cups: z.int() }),
      examples: [{ title: "Tea", input: { how: "at_once" } }],
      async run({ how }, ctx) {
        ctx.progress({ progress: 1, total: 2, message: "warm" });
        ctx.emit({ kind: "log", line: "bubbling" });
        if (how === "fail") throw new ToolError("NO_SPACE", "the kettle is full", {});
        if (how === "at_once") return { cups: 1 };
        if (how === "detach") ctx.detach({ cups: 0 });
        const cancelled = new Promise<never>((_, fail) =>
          ctx.signal.addEventListener("abort", () => fail(ctx.signal.reason)),
        );
        return Promise.race([boiled, cancelled]);
      },
    });
  const timings = ["async_short", "async_medium", "async_long", "fire_and_forget"] as const;
  const actions = Object.fromEntries(timings.map((timing) => [timing, boil(timing)]));
  return { whistle, tool: defineTool({ name: "kettle", summary: "Hot water.", actions }) };
}

const STARTED_AT = 1_000;
let folder: string;
let close: () => Promise<void>;
let kettle: ReturnType<typeof createKettle>;
let call: (name: string, input?: object, more?: object) => Promise<Envelope>;
const bugs: unknown[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-job-"));
  const store = createJobStore(join(folder, "jobs.sqlite"));
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents(() => STARTED_AT) });
  kettle = createKettle();
  const registry = createRegistry([kettle.tool, job(jobs)]);
  const cursors = createCursors(Buffer.from("s"));
  const dispatch = createDispatcher({ registry, cursors, jobs, onBug: (bug) => bugs.push(bug) });
  call = async (name, input = {}, more = {}) => {
    const [tool = "", action = ""] = name.split(".");
    return (await dispatch({ tool, action, input }, { caller: { id: "me", access: "admin" }, ...more }))
      .envelope;
  };
  close = async () => {
    await jobs.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  };
});
afterEach(async () => {
  await close();
  expect(bugs).toEqual([]);
});

test.each(["async_short", "async_medium"])(
  "%s work that is quick is answered with its data",
  async (timing) => {
    const envelope = await call(`kettle.${timing}`, { how: "at_once" });
    expect(envelope).toMatchObject({ ok: true, data: { cups: 1 } });
    expect(envelope.meta.job_id).toBeUndefined();
  },
);

test.each(["async_long", "fire_and_forget"])(
  "%s work is answered with its job at once, and polling brings the result",
  async (timing) => {
    const started = await call(`kettle.${timing}`, { how: "wait" });
    const { job_id } = started.meta;
    expect(started).toMatchObject({ ok: true, data: { job_id, state: "running" } });
    const polled = call("job.poll", { job_id });
    kettle.whistle({ cups: 3 });
    expect((await polled).data).toMatchObject({
      job: { state: "complete" },
      result: { ok: true, data: { cups: 3 } },
    });
  },
);

test("a hint of async_long returns the job at once", async () => {
  const { data } = await call("kettle.async_short", { how: "wait" }, { timingHint: "async_long" });
  expect(data).toMatchObject({ state: "running" });
});

test("an action that detaches returns its interim answer, and its result comes later", async () => {
  const started = await call("kettle.async_medium", { how: "detach" });
  expect(started.data).toEqual({ cups: 0 });
  kettle.whistle({ cups: 2 });
  const { job_id } = started.meta;
  expect((await call("job.poll", { job_id })).data).toMatchObject({ result: { data: { cups: 2 } } });
});

test("failures of unwatched jobs are found with job.list", async () => {
  const { job_id } = (await call("kettle.fire_and_forget", { how: "fail" })).meta;
  await call("job.poll", { job_id });
  expect((await call("job.list", { status: "failed" })).data).toMatchObject({
    jobs: [{ job_id, tool: "kettle" }],
  });
  expect((await call("job.status", { job_id })).data).toMatchObject({
    result: { error: { code: "NO_SPACE" } },
  });
});

test("an error within the wait is the call's own error", async () => {
  expect((await call("kettle.async_short", { how: "fail" })).error?.code).toBe("NO_SPACE");
});

test("cancelling ends the work", async () => {
  const { job_id } = (await call("kettle.async_long", { how: "wait" })).meta;
  expect((await call("job.cancel", { job_id })).data).toMatchObject({ job: { state: "cancelled" } });
  expect((await call("job.status", { job_id })).data).toMatchObject({
    result: { error: { code: "CANCELLED" } },
  });
});

test("a job's events can be read from any sequence number, and the reader continues from there", async () => {
  const { job_id } = (await call("kettle.async_long", { how: "wait" })).meta;
  const first = (await call("job.poll", { job_id, from_seq: 0 })).data as {
    events: { seq: number }[];
    next_seq: number;
  };
  expect(first.events).toMatchObject([
    { type: "start" },
    { chunk: { kind: "progress", progress: 1, message: "warm" } },
    { chunk: { kind: "log", line: "bubbling" } },
  ]);
  const next = call("job.poll", { job_id, from_seq: first.next_seq });
  kettle.whistle({ cups: 1 });
  expect((await next).data).toMatchObject({ events: [{ type: "end", state: "complete" }] });
});

test("a reader with a sequence number from before a restart learns that events are gone", async () => {
  const { job_id } = (await call("kettle.async_long", { how: "wait" })).meta;
  const { nextSeq } = createJobEvents(() => STARTED_AT - 1);
  const { data } = await call("job.poll", { job_id, from_seq: nextSeq });
  expect(data).toMatchObject({ restarted: true, events: [{ type: "start" }, {}, {}] });
  const { next_seq } = data as { next_seq: number };
  const later = (await call("job.poll", { job_id, from_seq: next_seq, wait: 0 })).data;
  expect(later).toMatchObject({ events: [] });
  expect(later).not.toHaveProperty("restarted");
});

test("work that fails at once returns the failure, even if a job was requested", async () => {
  expect(await call("kettle.async_long", { how: "fail" })).toMatchObject({
    ok: false,
    error: { code: "NO_SPACE" },
  });
});

test("another caller's job does not exist", async () => {
  const { job_id } = (await call("kettle.async_long", { how: "wait" })).meta;
  const you = { caller: { id: "you", access: "admin" } };
  for (const name of ["job.status", "job.poll", "job.cancel"])
    expect((await call(name, { job_id }, you)).error?.code).toBe("NOT_FOUND");
  expect((await call("job.list", {}, you)).data).toEqual({ jobs: [] });
});

test("the list is paged, and the same key is the same job", async () => {
  for (let i = 0; i < 5; i++) await call("kettle.async_short", { how: "at_once" }, { key: `k${i % 3}` });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await call("job.list", { limit: 2, ...(cursor && { cursor }) });
    seen.push(...(page.data as { jobs: { job_id: string }[] }).jobs.map(({ job_id }) => job_id));
    cursor = page.meta.paging.cursor;
  } while (cursor);
  expect(seen).toHaveLength(3);
  expect(new Set(seen).size).toBe(3);
  expect((await call("job.status")).data).toEqual({ counts: { complete: 3 } });
});
