import {
  createJobEvents,
  type Dispatch,
  type Progress,
  type QuestionAnswer,
  type StreamChunk,
  ToolError,
} from "@octant/core";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { CHUNKS, createFixture, QUESTION } from "../testing/fixture.ts";
import { startNatsServer } from "../testing/nats-server.ts";
import { createNatsClient } from "./nats/client.ts";
import { createNatsWorker } from "./nats/worker.ts";
import { createZmqClient } from "./zmq/client.ts";
import { serveZmq } from "./zmq/server.ts";

type Fixture = ReturnType<typeof createFixture>;
const caller = { id: "local", access: "admin" } as const;
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
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
      const jobs = {
        events: createJobEvents(),
        result: async () => undefined,
        ended: async () => {},
        cancel: async () => {},
      };
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

  test("the person behind the caller is asked, and the call obeys or fails as in one process", async () => {
    const fixture = createFixture();
    onTestFinished(fixture.remove);
    const dispatch = await open(fixture);
    const asked: unknown[] = [];
    const asking = (to: Dispatch, answer: () => Promise<QuestionAnswer | undefined>) =>
      to(
        { tool: "demo", action: "ask", input: {} },
        {
          caller,
          traceparent,
          ask: (question) => {
            asked.push(question);
            return answer();
          },
        },
      );
    const answers: (() => Promise<QuestionAnswer | undefined>)[] = [
      async () => ({ answer: "accept", content: { sure: true } }),
      async () => ({ answer: "decline" }),
      async () => undefined,
      async () => {
        throw new ToolError("APPROVAL_REQUIRED", "the client must provide input first", { by: "client" });
      },
    ];
    for (const answer of answers)
      expect(await asking(dispatch, answer)).toEqual(await asking(fixture.dispatch, answer));
    expect(asked).toMatchObject(Array.from({ length: 2 * answers.length }, () => QUESTION));
    const nobody = await dispatch({ tool: "demo", action: "ask", input: {} }, { caller });
    expect(nobody.envelope).toMatchObject({ ok: true, data: { answer: { answer: "unattended" } } });
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
