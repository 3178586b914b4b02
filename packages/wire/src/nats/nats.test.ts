import { headers } from "@nats-io/transport-node";
import {
  createJobEvents,
  createRegistry,
  type Envelope,
  newHandle,
  type StreamChunk,
  type Tool,
} from "@octant/core";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { CHUNK_BYTES, createFixture, numbered } from "../../testing/fixture.ts";
import { type NatsServer, startNatsServer } from "../../testing/nats-server.ts";
import { toRequest } from "../envelopes.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { HEADERS } from "./bodies.ts";
import { followCall } from "./call-events.ts";
import { createNatsClient, type NatsClientOptions } from "./client.ts";
import { connectNats } from "./connection.ts";
import { createEdgeJobs } from "./edge-jobs.ts";
import { followHolders } from "./holders.ts";
import { createJobQueue } from "./job-queue.ts";
import { subjectsOf } from "./subjects.ts";
import { createNatsWorker } from "./worker.ts";
import type { NatsWorkerOptions } from "./worker-calls.ts";

const caller = { id: "local", access: "admin" } as const;
const echo = (value: unknown) => ({ tool: "demo", action: "echo", input: { value } });

/** The same tools, declared as ones that change something. */
function asWriting(registry: NatsWorkerOptions["registry"]): NatsWorkerOptions["registry"] {
  const toWriting = (tool: Tool | undefined): Tool | undefined =>
    tool && {
      ...tool,
      actions: mapValues(tool.actions, (one) => ({ ...one, access: "write" as const })),
    };
  return { ...registry, get: (name) => toWriting(registry.get(name)) };
}

const mapValues = <V>(values: Readonly<Record<string, V>>, map: (value: V) => V): Record<string, V> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));

describe.skipIf(inject("missing").includes("nats-server"))("over a real nats-server", () => {
  let server: NatsServer;
  let fixture: ReturnType<typeof createFixture>;
  let project: string;
  let projects = 0;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    fixture = createFixture();
    project = `project.${projects++}`;
    onTestFinished(() => {
      expect(fixture.bugs).toEqual([]);
      fixture.remove();
    });
  });

  const jobs = {
    events: createJobEvents(),
    result: async (): Promise<Envelope | undefined> => undefined,
    ended: async () => {},
    cancel: async () => {},
  };
  const start = async (more: Partial<NatsWorkerOptions> = {}) => {
    const worker = await createNatsWorker({ ...fixture, url: server.url, project, jobs, ...more });
    onTestFinished(() => worker.close());
    return worker;
  };
  const connect = async (more: Partial<NatsClientOptions> = {}) => {
    const client = await createNatsClient({ url: server.url, project, ...more });
    onTestFinished(() => client.close());
    return client;
  };

  test("a call returns the envelope of the worker's dispatcher", async () => {
    await start();
    const client = await connect();
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (const call of [
      echo({ text: "üñí", list: [1, null] }),
      { tool: "demo", action: "fail", input: {} },
      { tool: "demo", action: "echo", input: { nope: 1 } },
      { tool: "demo", action: undefined, input: undefined },
      { tool: "absent", action: "x", input: {} },
    ]) {
      const there = await client.dispatch(call, { caller, traceparent });
      expect(there).toEqual(await fixture.dispatch(call, { caller, traceparent }));
    }
  });

  test("answers and job results come with the text of their action on request", async () => {
    await start();
    const client = await connect({ text: true });
    expect(await client.dispatch(echo(1), { caller })).toMatchObject({ text: "echo of 1" });
    const job_id = await client.enqueue(echo("later"), { caller });
    const poll = { tool: "job", action: "poll", input: { job_id } };
    const polled = await client.dispatch(poll, { caller });
    expect(polled.text).toMatch(/^demo\.echo: complete, started \S+Z\necho of "later"$/);
    expect(polled.envelope.data).toMatchObject({ result: { ok: true, data: { value: "later" } } });
    expect(polled.envelope.data).not.toHaveProperty("result.text");
    const plain = await (await connect()).dispatch(echo(1), { caller });
    expect(plain).not.toHaveProperty("text");
  });

  test("a job that no worker takes is queued, the caller soon hears so, and the next worker runs it", async () => {
    const first = await start();
    const client = await connect({ admissionMs: 50 });
    await first.close();
    const slow = { tool: "demo", action: "slow", input: {} };
    const { envelope } = await client.dispatch(slow, { caller });
    const { job_id } = envelope.meta;
    expect(envelope).toMatchObject({ ok: true, data: { job_id, state: "queued" } });
    const about = async (action: string) =>
      (await client.dispatch({ tool: "job", action, input: { job_id } }, { caller })).envelope.data;
    expect(await about("status")).toMatchObject({ job: { state: "queued" } });
    const listed = await client.dispatch({ tool: "job", action: "list", input: {} }, { caller });
    expect(listed.envelope.data).toMatchObject({ jobs: [{ job_id, state: "queued" }] });
    const shown = await client.dispatch({ tool: "edge", action: "jobs", input: { limit: 9 } }, { caller });
    expect(shown.envelope.data).toMatchObject({ jobs: [{ job_id, state: "queued" }] });
    await start();
    expect(await about("poll")).toMatchObject({ job: { state: "complete" }, result: { ok: true } });
  });

  test("a client is notified when another worker starts, and then knows its tools", async () => {
    const first = await start();
    const started = Promise.withResolvers<void>();
    const client = await connect();
    client.onTools(started.resolve);
    await first.close();
    await start({ registry: createRegistry([]) });
    await started.promise;
    expect((await client.ready()).tools).toEqual([]);
  });

  test("bodies above a megabyte go through the object store, both ways", async () => {
    await start();
    const text = "x".repeat(3_000_000);
    const { envelope } = await (await connect()).dispatch(echo(text), { caller });
    expect(envelope.data).toEqual({ value: text });
  });

  test("bytes beside a call and its answer go through the object store", async () => {
    await start();
    const client = await connect();
    const size = 3 * CHUNK_BYTES + 5;
    const upload = { mime: "x/y", size, read: () => numbered(size) };
    const { envelope } = await client.dispatch(
      { tool: "demo", action: "take", input: {} },
      { caller, upload },
    );
    expect(envelope.data).toMatchObject({ bytes: size });
    const { binary } = await client.dispatch({ tool: "demo", action: "bytes", input: { size } }, { caller });
    const bytes = Buffer.concat(await Array.fromAsync(binary?.read() ?? []));
    expect(bytes.equals(Buffer.concat(await Array.fromAsync(numbered(size))))).toBe(true);
  });

  test("one worker has a project; another stands by, takes over when it leaves, and says so", async () => {
    const first = await start();
    const other = createFixture();
    onTestFinished(other.remove);
    const lines: string[] = [];
    const second = await start({ ...other, log: (line) => lines.push(line) });
    expect([first.state, second.state]).toEqual(["active", "standby"]);
    const client = await connect();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => client.dispatch(echo(n), { caller })),
    );
    expect(answers.map(({ envelope }) => envelope.data)).toEqual(
      Array.from({ length: 50 }, (_, value) => ({ value })),
    );
    expect([fixture.calls.length, other.calls.length]).toEqual([50, 0]);
    const takeovers: unknown[] = [];
    client.onTakeover(() => takeovers.push("taken"));
    await first.close();
    for (let n = 0; n < 10; n++) expect((await client.dispatch(echo(n), { caller })).envelope.ok).toBe(true);
    expect([fixture.calls.length, other.calls.length]).toEqual([50, 10]);
    expect(takeovers).toEqual(["taken"]);
    expect(lines.join("\n")).toMatch(/stands by[\s\S]*took over/);
    expect(second.state).toBe("active");
  });

  test("projects whose ids differ in a sign are different ones", async () => {
    await start({ project: "a.b" });
    const other = createFixture();
    onTestFinished(other.remove);
    await start({ ...other, project: "a_b" });
    await (await connect({ project: "a_b" })).dispatch(echo(1), { caller });
    expect([fixture.calls.length, other.calls.length]).toEqual([0, 1]);
  });

  test("300 requests for the tools make their schemas once", async () => {
    let made = 0;
    const list = () => {
      made += 1;
      return fixture.registry.list();
    };
    await start({ registry: { ...fixture.registry, list } });
    const client = await connect();
    await Promise.all(Array.from({ length: 300 }, () => client.ready()));
    expect(made).toBe(1);
  });

  test("an edge that has its answer does not look for a worker any more", async () => {
    await start();
    const raw = await connectNats(server, "raw");
    onTestFinished(() => raw.close());
    const subjects = subjectsOf(project);
    const holders = await followHolders(raw, subjects.lease);
    let looks = 0;
    const current: typeof holders.current = (signal) => {
      looks += 1;
      return holders.current(signal);
    };
    const parts = {
      connection: raw,
      subjects,
      holders: { ...holders, current },
      text: false,
      admissionMs: 1,
    };
    const queued = createEdgeJobs(parts, createJobQueue(raw, subjects));
    const call = echo("once");
    const request = toRequest(call, { caller }, { text: false });
    const { envelope } = await queued.run(request, call, { caller }, "async_short");
    expect(envelope).toMatchObject({ data: { value: "once" } });
    const before = looks;
    expect(await queued.wait(newHandle("job", 0), 50)).toBeUndefined();
    expect(looks).toBe(before);
  });

  test("an edge learns how many chunks it has missed", async () => {
    await start();
    const client = await connect();
    const raw = await connectNats(server, "raw");
    onTestFinished(() => raw.close());
    const seen: unknown[] = [];
    const onStream = (chunk: StreamChunk) => seen.push(chunk.kind === "text" ? chunk.text.trim() : chunk);
    const flood = { tool: "demo", action: "flood", input: { chunks: 3, bytes: 0 } };
    await client.dispatch(flood, { caller, onStream });
    expect(seen).toEqual(["0", "1", "2"]);
    seen.length = 0;
    const id = "lost";
    const subjects = subjectsOf(project);
    const holders = await followHolders(raw, subjects.lease);
    const parts = { connection: raw, subjects, holders, text: false, admissionMs: 1 };
    const { stop, expect: expectChunks } = followCall(parts, id, { onStream });
    onTestFinished(stop);
    const chunk = { kind: "text", text: "late" };
    raw.nc.publish(subjects.event(id), encodeMsgPack({ event: "stream_chunk", seq: 4, chunk }));
    await expect.poll(() => seen.length).toBe(2);
    expectChunks(7);
    expect(seen).toEqual([{ kind: "missing", chunks: 4 }, "late", { kind: "missing", chunks: 2 }]);
  });

  test("a call that runs when its worker leaves is answered", async () => {
    const worker = await start();
    const client = await connect();
    const answer = client.dispatch({ tool: "demo", action: "hang", input: {} }, { caller });
    await fixture.waiting;
    await worker.close();
    expect((await answer).envelope).toMatchObject({ ok: false, error: { code: "INTERRUPTED" } });
  });

  test("a cancelled call is cancelled at the worker", async () => {
    await start();
    const cancel = new AbortController();
    const client = await connect();
    const answer = client.dispatch(
      { tool: "demo", action: "hang", input: {} },
      { caller, signal: cancel.signal },
    );
    await fixture.waiting;
    cancel.abort();
    expect((await answer).envelope).toMatchObject({ error: { code: "CANCELLED" } });
    expect(fixture.calls).toEqual(["hang", "cancelled"]);
  });

  test("a job runs once, and only its owner gets the result", async () => {
    await start();
    const client = await connect();
    const job_id = await client.enqueue(echo("job"), { caller });
    const poll = { tool: "job", action: "poll", input: { job_id } };
    const { envelope } = await client.dispatch(poll, { caller });
    expect(envelope).toMatchObject({
      ok: true,
      data: {
        job: { job_id, tool: "demo", action: "echo", state: "complete" },
        result: { data: { value: "job" } },
      },
    });
    const stranger = await client.dispatch(poll, { caller: { id: "other", access: "admin" } });
    expect(stranger.envelope).toMatchObject({ ok: false, error: { code: "UNKNOWN_TOOL" } });
    expect(fixture.calls).toEqual(["job"]);
  });

  test("a stopping worker returns a job that reads to the queue, and the next worker runs it", async () => {
    const first = await start();
    const client = await connect();
    const job_id = await client.enqueue({ tool: "demo", action: "hang", input: {} }, { caller });
    await fixture.waiting;
    const status = { tool: "job", action: "status", input: { job_id } };
    const { envelope: running } = await client.dispatch(status, { caller });
    expect(running.data).toMatchObject({ job: { state: "running" } });
    const other = createFixture();
    other.release();
    onTestFinished(other.remove);
    await first.close();
    expect(await client.result(job_id)).toBeUndefined();
    await start({ ...other });
    const { envelope } = await client.dispatch(
      { tool: "job", action: "poll", input: { job_id } },
      { caller },
    );
    expect(envelope).toMatchObject({ data: { job: { state: "complete" } } });
    expect(other.calls).toEqual(["hang"]);
  });

  test("a job that changes something is INTERRUPTED when its worker stops, and does not run again", async () => {
    const first = await start({ registry: asWriting(fixture.registry) });
    const client = await connect();
    const job_id = await client.enqueue({ tool: "demo", action: "hang", input: {} }, { caller });
    await fixture.waiting;
    await first.close();
    expect(await client.result(job_id)).toMatchObject({ error: { code: "INTERRUPTED" } });
    const other = createFixture();
    onTestFinished(other.remove);
    await start({ ...other, registry: asWriting(other.registry) });
    await (await connect()).dispatch(echo("later"), { caller });
    expect(other.calls).toEqual(["later"]);
  });

  test("a job that a dead worker had begun is INTERRUPTED if it changes something, else it runs", async () => {
    const first = await start();
    const client = await connect();
    await first.close();
    const raw = await connectNats(server, "raw");
    onTestFinished(() => raw.close());
    const enqueueBegun = async () => {
      const job_id = await client.enqueue(echo("again"), { caller });
      // The last that its worker did.
      await raw.js.publish(subjectsOf(project).begun(job_id), "");
      return job_id;
    };
    const outcome = async (job_id: string) =>
      (await client.dispatch({ tool: "job", action: "poll", input: { job_id } }, { caller })).envelope.data;
    const changing = await enqueueBegun();
    const second = await start({ registry: asWriting(fixture.registry) });
    expect(await outcome(changing)).toMatchObject({ result: { error: { code: "INTERRUPTED" } } });
    expect(fixture.calls).toEqual([]);
    await second.close();
    const reading = await enqueueBegun();
    await start();
    expect(await outcome(reading)).toMatchObject({ result: { ok: true } });
    expect(fixture.calls).toEqual(["again"]);
  });

  test("an unreadable job fails once, and does not come again", async () => {
    const lines: string[] = [];
    await start({ log: (line) => lines.push(line) });
    const client = await connect();
    const raw = await connectNats(server, "raw");
    onTestFinished(() => raw.close());
    const job_id = newHandle("job", Date.now());
    const given = headers();
    given.set(HEADERS.owner, caller.id);
    given.set(HEADERS.action, "demo.slow");
    await raw.js.publish(subjectsOf(project).job(job_id), Buffer.of(0xc1), { headers: given });
    const poll = { tool: "job", action: "poll", input: { job_id } };
    expect((await client.dispatch(poll, { caller })).envelope.data).toMatchObject({
      job: { state: "failed" },
      result: { error: { code: "INVALID_ARGUMENT" } },
    });
    expect(lines).toEqual([]);
  });

  test("a job cancelled before a worker takes it never runs", async () => {
    const worker = await start();
    const client = await connect();
    await worker.close();
    const job_id = await client.enqueue(echo("never"), { caller });
    await client.cancel(job_id);
    await start();
    const after = await client.enqueue(echo("after"), { caller });
    await client.dispatch({ tool: "job", action: "poll", input: { job_id: after } }, { caller });
    expect(await client.result(job_id)).toMatchObject({ error: { code: "CANCELLED" } });
    expect(fixture.calls).toEqual(["after"]);
  });

  test("an edge without a worker, and an address without a server, are typed errors", async () => {
    await expect(createNatsClient({ url: server.url, project: "nobody" })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
    });
    await expect(createNatsClient({ url: "nats://secret:word@127.0.0.1:1" })).rejects.toThrow(
      /^NATS at nats:\/\/127\.0\.0\.1:1 cannot be used/,
    );
    await start();
    const client = await connect();
    await client.close();
    for (const call of [echo(1), { tool: "demo", action: "slow", input: {} }])
      expect((await client.dispatch(call, { caller })).envelope.error?.code).toBe("UPSTREAM_ERROR");
    await expect(createNatsClient({ url: "http://x" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
