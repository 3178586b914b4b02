import { createJobEvents, type Dispatch, type Progress, type StreamChunk } from "@octant/core";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { createNatsClient } from "./nats/client.ts";
import { createNatsWorker } from "./nats/worker.ts";
import { CHUNKS, createFixture } from "./testing/fixture.ts";
import { startNatsServer } from "./testing/nats-server.ts";
import { createZmqClient } from "./zmq/client.ts";
import { serveZmq } from "./zmq/server.ts";

type Fixture = ReturnType<typeof createFixture>;
const caller = { id: "local", access: "admin" } as const;
const say = { tool: "demo", action: "say", input: {} };

const OPEN: Readonly<Record<string, (fixture: Fixture) => Promise<Dispatch>>> = {
  async ZeroMQ(fixture) {
    const server = await serveZmq(fixture);
    onTestFinished(() => server.close());
    const client = createZmqClient(fixture);
    onTestFinished(() => client.close());
    return client.dispatch;
  },
  ...(!inject("missing").includes("nats-server") && {
    async NATS(fixture) {
      const { url, stop } = await startNatsServer();
      onTestFinished(stop);
      const jobs = { events: createJobEvents(), result: async () => undefined, ended: async () => {} };
      const worker = await createNatsWorker({ ...fixture, url, project: "streams", jobs });
      onTestFinished(() => worker.close());
      const client = await createNatsClient({ url, project: "streams" });
      onTestFinished(() => client.close());
      return client.dispatch;
    },
  }),
};

describe.each(Object.entries(OPEN))("over %s", (_, open) => {
  test("a call that is answered inline streams its events, as in one process", async () => {
    const fixture = createFixture();
    onTestFinished(fixture.remove);
    const here = await follow(fixture.dispatch);
    expect(here.chunks).toEqual(CHUNKS);
    expect(await follow(await open(fixture))).toEqual(here);
    expect(fixture.bugs).toEqual([]);
  });

  test("a caller that wants progress gets nothing else", async () => {
    const fixture = createFixture();
    onTestFinished(fixture.remove);
    const dispatch = await open(fixture);
    const seen: Progress[] = [];
    await dispatch(say, { caller, onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([CHUNKS[0]]);
  });
});

async function follow(dispatch: Dispatch) {
  const chunks: StreamChunk[] = [];
  const progress: Progress[] = [];
  const { envelope } = await dispatch(say, {
    caller,
    onStream: (chunk) => chunks.push(chunk),
    onProgress: (update) => progress.push(update),
  });
  expect(envelope.ok).toBe(true);
  return { chunks, progress };
}
