import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  action,
  type Caller,
  createJobEvents,
  createRegistry,
  createTopic,
  createTopics,
  defineTool,
  type NamedTopic,
} from "@octant/core";
import { expect, onTestFinished, test } from "vitest";
import { Context, Subscriber } from "zeromq";
import { z } from "zod";
import { parseMsgPack } from "../msgpack/codec.ts";
import { createBroadcaster } from "./broadcaster.ts";

interface Owned {
  readonly owner: string;
  readonly text: string;
}

const toolWith = (name: string, topics: Readonly<Record<string, NamedTopic>>) =>
  defineTool({
    name,
    summary: "Has a topic.",
    topics,
    actions: {
      look: action({
        summary: "Look.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Look", input: {} }],
        run: () => ({}),
      }),
    },
  });

/** Topics of every kind, and a subscriber that has seen the first event: from then on none is missed. */
async function start(caller: Caller, prefix: string) {
  const folder = mkdtempSync(join(tmpdir(), "octant-broadcast-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const context = new Context();
  const jobs = createJobEvents();
  const [calls, questions, builds] = [createTopic<Owned>(), createTopic<Owned>(), createTopic<Owned>()];
  const open = createTopic<{ readonly text: string }>();
  const registry = createRegistry([], () => 0);
  const topics = createTopics(
    {
      calls: { summary: "", events: calls, ownerOf: ({ owner }) => owner } satisfies NamedTopic<Owned>,
      questions: { summary: "", events: questions, ownerOf: () => "" } satisfies NamedTopic<Owned>,
      open: { summary: "", events: open },
      tools: { summary: "", events: registry.changes },
    },
    registry.list,
  );
  const socket = { context };
  const { address, close } = await createBroadcaster(`ipc://${folder}/pub`, {
    jobs,
    topics,
    caller,
    socket,
    keys: undefined,
  });
  const subscriber = new Subscriber({ context, linger: 0 });
  onTestFinished(() => {
    subscriber.close();
    close();
  });
  subscriber.subscribe("topic/open", prefix);
  subscriber.connect(address);
  const receive = async () => {
    const frames = await subscriber.receive();
    return { frame: String(frames[0]), body: Object(parseMsgPack(frames[7] ?? Buffer.alloc(0))) };
  };
  const knocking = setInterval(() => open.publish({ text: "knock" }), 5);
  await receive();
  clearInterval(knocking);
  open.publish({ text: "ready" });
  for (let text = ""; text !== "ready"; text = (await receive()).body.text);
  /** The events until a last one, which everyone may read. */
  const seen = async () => {
    open.publish({ text: "last" });
    const events: string[] = [];
    for (;;) {
      const { frame, body } = await receive();
      if (body.text === "last") return events;
      events.push(`${frame} ${body.text ?? body.state ?? body.type}`);
    }
  };
  return { jobs, calls, questions, builds, open, registry, receive, seen };
}

const LOCAL: Caller = { id: "local", access: "admin" };
const JOB = { job_id: "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6", type: "start" } as const;

test.each([
  ["its own events and those without an owner", LOCAL, ["local", "open"]],
  ["all events", { ...LOCAL, sees: "all" } as const, ["local", "other", "asked", "open"]],
])("a caller's broadcast has %s", async (_what, caller, expected) => {
  const { jobs, calls, questions, open, seen } = await start(caller, "");
  calls.publish({ owner: "local", text: "local" });
  calls.publish({ owner: "other", text: "other" });
  questions.publish({ owner: "other", text: "asked" });
  open.publish({ text: "open" });
  jobs.publish({ ...JOB, owner: "local" });
  jobs.publish({ ...JOB, owner: "other" });
  const job = `job/${JOB.job_id} running`;
  const frames = { local: "topic/calls", other: "topic/calls", asked: "topic/questions", open: "topic/open" };
  const own = expected.map((text) => `${frames[text as keyof typeof frames]} ${text}`);
  expect(await seen()).toEqual([...own, job, ...(caller.sees ? [job] : [])]);
});

test("a subscriber of one topic gets no other, and finds a gap by the number of the event before", async () => {
  const { calls, questions, receive } = await start(LOCAL, "topic/calls");
  calls.publish({ owner: "local", text: "one" });
  calls.publish({ owner: "other", text: "hidden" });
  questions.publish({ owner: "local", text: "elsewhere" });
  calls.publish({ owner: "local", text: "two" });
  const [one, two] = [await receive(), await receive()];
  expect([one, two]).toMatchObject([
    { frame: "topic/calls", body: { topic: "calls", text: "one", prev_seq: 0 } },
    { frame: "topic/calls", body: { topic: "calls", text: "two", prev_seq: one.body.seq } },
  ]);
});

test("topics of a tool are broadcast while the tool is there", async () => {
  const { builds, registry, seen } = await start(LOCAL, "topic/builds");
  const topics = {
    builds: { summary: "", events: builds, ownerOf: ({ owner }) => owner } satisfies NamedTopic<Owned>,
  };
  builds.publish({ owner: "local", text: "too early" });
  registry.addTool(toolWith("builder", topics));
  builds.publish({ owner: "local", text: "built" });
  registry.removeTool("builder");
  builds.publish({ owner: "local", text: "too late" });
  expect(await seen()).toEqual(["topic/builds built"]);
});
