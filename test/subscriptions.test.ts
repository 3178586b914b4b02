import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOctant } from "@octant/app";
import { createCursors } from "@octant/core";
import { createWatcher, type Watcher } from "@octant/host";
import { createTokenStore, type HttpServer, type TokenStore } from "@octant/http";
import { serveHttp } from "@octant/mcp";
import { serveZmq, type ZmqServer } from "@octant/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createWireDispatch } from "../packages/app/src/edge/edge-tool.ts";
import { createMcpFeatures } from "../packages/app/src/mcp/features.ts";
import { connectInProcess } from "../packages/mcp/testing/in-process.ts";
import { type AnyClient, createEdgeClients } from "./edge-clients.ts";
import { createGate } from "./gate.ts";

const PROJECT = "p1";
const MAX_SUBSCRIPTIONS = 1_000;

let base: string;
let root: string;
let octant: ReturnType<typeof createOctant>;
let watcher: Watcher;
let jobListeners = 0;
let tokens: TokenStore;
let server: HttpServer;
let zmq: ZmqServer;
let headers: Record<string, string>;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-subscriptions-")));
  root = join(base, "project");
  mkdirSync(root);
  writeFileSync(join(base, "secret.txt"), "not yours\n");
  symlinkSync(base, join(root, "out"));
  octant = createOctant({ projectPath: root, env: environment(base) });
  watcher = createWatcher(octant.workspace);
  tokens = createTokenStore({ folder: join(base, "tokens") });
  server = await serveHttp({ ...offer(octant), tokens, sse: true, project: PROJECT });
  headers = toHeaders(tokens.create({ scopes: ["admin"] }).token);
  zmq = await serveZmq({
    ...toWire(octant),
    address: `ipc://${base}/zmq`,
    caller: { id: "local", access: "admin" },
    name: "octant",
    version: "1",
    log: () => {},
  });
});
afterAll(async () => {
  await zmq.close();
  await server.close();
  await watcher.close();
  await octant.close();
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => {
  for (const name of ["a.txt", "b.txt", "fence.txt"]) writeFileSync(join(root, name), `${name}\n`);
  rmSync(join(root, "new.txt"), { force: true });
});

const environment = (home: string) => ({ HOME: home, PATH: process.env["PATH"] ?? "" });
const toHeaders = (token: string) => ({ authorization: `Bearer ${token}` });
const at = (name: string) => `file://${join(root, name)}`;
const write = (name: string, text: string) => writeFileSync(join(root, name), text);

/** The server's side, with all its listeners counted. */
function offer({ registry, dispatch, workspace }: ReturnType<typeof createOctant>) {
  const { jobs } = workspace;
  const listen: typeof jobs.events.listen = (listener) => {
    const stop = jobs.events.listen(listener);
    jobListeners++;
    return () => {
      jobListeners--;
      stop();
    };
  };
  const events = { ...jobs.events, listen };
  const countedJobs = new Proxy(jobs, {
    get(target, name) {
      const value: unknown = name === "events" ? events : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const counted = { ...workspace, jobs: countedJobs };
  const features = createMcpFeatures({ registry, dispatch, workspace: counted, watcher });
  return { registry, dispatch, name: "octant", version: "1", log: () => {}, ...features, tasks: jobs };
}

/** The same for edges in other processes. */
function toWire(served: ReturnType<typeof createOctant>) {
  const { registry, dispatch, resources } = offer(served);
  const cursors = createCursors(served.workspace.state.secret());
  const { jobs } = served.workspace;
  const wired = createWireDispatch({
    openPlace: () => Promise.reject(new Error("no sessions here")),
    registry,
    dispatch,
    resources,
    jobs,
    questions: served.questions,
    roots: [],
    cursors,
    onBug: () => {},
  });
  return { registry, jobs, dispatch: wired };
}

/** What was told, in its order, and a wait for the next time that something is. */
function collect() {
  const told: string[] = [];
  let look = () => {};
  const onUpdated = (uri: string) => {
    told.push(uri);
    look();
  };
  const next = (uri: string, from = told.length) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    look = () => told.includes(uri, from) && resolve();
    look();
    return promise;
  };
  return { told, onUpdated, next };
}

const EDGES = createEdgeClients({
  stdio: () => ({ cwd: root, home: base }),
  http: () => ({ url: server.url, headers }),
  zmq: () => zmq.address,
});

describe.each(Object.entries(EDGES))("over %s", (_name, open) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(() => client.close());

  test("a client is notified of a file that it edits, or another program edits, creates or removes", async () => {
    const { told, onUpdated, next } = collect();
    const leave = await client.subscribe([at("a.txt"), at("new.txt")], onUpdated);
    const edited = next(at("a.txt"));
    const patch = [{ op: "replace", old: "a.txt", new: "edited" }];
    const read = (await client.callTool({
      name: "fs",
      arguments: { action: "stat", uri: "a.txt" },
    })) as { structuredContent: { data: { hash: string } } };
    const { hash: base_hash } = read.structuredContent.data;
    const answer = await client.callTool({
      name: "fs",
      arguments: { action: "apply_patch", uri: "a.txt", base_hash, patch },
    });
    expect(answer).toMatchObject({ isError: false });
    await edited;
    const changes: readonly (readonly [name: string, change: () => void])[] = [
      ["a.txt", () => write("a.txt", "behind our back\n")],
      ["new.txt", () => write("new.txt", "made\n")],
      ["new.txt", () => rmSync(join(root, "new.txt"))],
    ];
    for (const [name, change] of changes) {
      const changed = next(at(name));
      change();
      await changed;
    }
    await leave();
    expect(new Set(told)).toEqual(new Set([at("a.txt"), at("new.txt")]));
  });

  test("a client is not notified after unsubscribing, nor of files it never subscribed to", async () => {
    const { told, onUpdated, next } = collect();
    const leave = await client.subscribe([at("a.txt")], onUpdated);
    const leaveFence = await client.subscribe([at("fence.txt")], onUpdated);
    await leave();
    const fence = next(at("fence.txt"));
    for (const file of ["a.txt", "b.txt", "fence.txt"]) write(file, "changed\n");
    await fence;
    expect(told).toEqual([at("fence.txt")]);
    await leaveFence();
  });
});

const NETWORK_EDGES = Object.entries(EDGES).filter(([name]) => !name.startsWith("stdio"));

test.each(NETWORK_EDGES)("a client that disconnects leaves nothing behind, over %s", async (_name, open) => {
  const client = await open();
  const { onUpdated } = collect();
  const job = await startJob(client);
  await client.subscribe([at("a.txt"), `octant://job/${job.id}`], onUpdated);
  expect(watcher.status().kind).toBe("events");
  expect(jobListeners).toBe(1);
  await job.end();
  await client.close();
  await expect.poll(() => [watcher.status().kind, jobListeners]).toEqual(["idle", 0]);
});

/** A command that runs until it is stopped, and its job. */
async function startJob(client: Pick<AnyClient, "callTool">) {
  const call = async (tool: string, input: Record<string, unknown>) =>
    ((await client.callTool({ name: tool, arguments: input })) as { structuredContent: { data: unknown } })
      .structuredContent.data;
  const { wait, open } = createGate(root);
  const command = `${wait}; echo said`;
  const answer = call("proc", { action: "exec", command });
  const running = async () => {
    const { jobs } = (await call("job", { action: "list", status: "running" })) as {
      jobs: { job_id: string }[];
    };
    return jobs[0]?.job_id;
  };
  await expect.poll(running).toBeDefined();
  const id = (await running()) ?? "";
  const end = async () => {
    open();
    return (await answer) as { proc_id: string };
  };
  return { id, end, command, open };
}

describe.each(["legacy", "auto"] as const)("a client in process (%s)", (mode) => {
  async function connect(served = octant) {
    const { client, close } = await connectInProcess(offer(served), { versionNegotiation: { mode } });
    onTestFinished(close);
    const collected = collect();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
      collected.onUpdated(params.uri),
    );
    /** Resolves with the accepted ones. */
    const subscribe = async (...uris: string[]): Promise<string[]> => {
      if (mode === "auto")
        return (
          (await client.listen({ resourceSubscriptions: uris })).honoredFilter.resourceSubscriptions ?? []
        );
      const accepted: string[] = [];
      for (const uri of uris) {
        const error = await client.subscribeResource({ uri }).then(
          () => undefined,
          (cause: unknown) => cause,
        );
        if (error === undefined) accepted.push(uri);
        else expect(error, uri).toMatchObject({ data: {} });
      }
      return accepted;
    };
    return { client, close, subscribe, ...collected };
  }

  test("growth of a job's log and a process's output is reported", async () => {
    const { client, subscribe, next } = await connect();
    const { id, end, command, open } = await startJob(client);
    const uri = `octant://job/${id}`;
    expect(await subscribe(uri)).toEqual([uri]);
    const changed = next(uri);
    await end();
    await changed;
    const started = await client.callTool({
      name: "proc",
      arguments: {
        action: "exec",
        command,
        background: true,
      },
    });
    const { proc_id } = (started.structuredContent as unknown as { data: { proc_id: string } }).data;
    const stdout = `stdout:${proc_id}`;
    expect(await subscribe(stdout)).toEqual([stdout]);
    const printed = next(stdout);
    open();
    await printed;
  });

  test("the end of a job in another process is reported", async () => {
    const elsewhere = createOctant({ projectPath: root, env: environment(base) });
    onTestFinished(() => elsewhere.close());
    const { client: other } = await connect(elsewhere);
    const { id, end } = await startJob(other);
    const { subscribe, next } = await connect();
    const uri = `octant://job/${id}`;
    await expect.poll(() => subscribe(uri)).toEqual([uri]);
    const changed = next(uri);
    await end();
    await changed;
  });

  test("immutable resources can be subscribed to; missing ones and those of others cannot", async () => {
    const { client, subscribe } = await connect();
    const { undo } = (
      (
        await client.callTool({
          name: "fs",
          arguments: { action: "rm", uri: "b.txt", confirm: true },
        })
      ).structuredContent as unknown as { data: { undo: string } }
    ).data;
    const fixed = ["octant://manual/fs", "octant://manual/fs/read", undo];
    expect(await subscribe(...fixed)).toEqual(fixed);
    const caller = { id: "somebody else", access: "admin" } as const;
    const call = { tool: "proc", action: "exec", input: { command: "true" } };
    const { envelope } = await octant.dispatch(call, { caller });
    const { proc_id } = envelope.data as { proc_id: string };
    const refused = [
      `file://${base}/secret.txt`,
      at("out/secret.txt"),
      at("out/not-there-yet.txt"),
      "file:///etc/passwd",
      at(""),
      "octant://manual/nope",
      "octant://job/nope",
      `octant://job/${envelope.meta.job_id}`,
      `stdout:${proc_id}`,
      "https://example.com/",
      "a.txt",
      "",
    ];
    expect(await subscribe(...refused)).toEqual([]);
  });

  test("a client without read access is not notified", async () => {
    const home = join(base, `ruled-${mode}`);
    mkdirSync(join(home, ".config/hanzo"), { recursive: true });
    const permissions = [{ tool_pattern: "fs.read", mode: "deny", args: { uri: "*a.txt" } }];
    writeFileSync(join(home, ".config/hanzo/settings.json"), JSON.stringify({ permissions }));
    const ruled = createOctant({ projectPath: root, env: environment(home) });
    onTestFinished(() => ruled.close());
    const { subscribe } = await connect(ruled);
    expect(await subscribe(at("a.txt"), at("b.txt"))).toEqual([at("b.txt")]);
  });

  test("subscriptions per connection are limited", async () => {
    const { client, subscribe } = await connect();
    const manual = (count: number) => Array.from({ length: count }, (_, n) => at(`absent-${n}`));
    const most = manual(MAX_SUBSCRIPTIONS);
    expect(await subscribe(...most)).toEqual(most);
    const tooMany =
      mode === "auto"
        ? client.listen({ resourceSubscriptions: [at("a.txt")] })
        : client.subscribeResource({ uri: at("a.txt") });
    await expect(tooMany).rejects.toMatchObject({
      code: -32602,
      data: { code: "LIMIT_EXCEEDED", details: { limit: MAX_SUBSCRIPTIONS, actual: MAX_SUBSCRIPTIONS + 1 } },
    });
    if (mode === "auto") return;
    await client.unsubscribeResource({ uri: most[0] ?? "" });
    expect(await subscribe(at("a.txt"))).toEqual([at("a.txt")]);
  });

  test("changes of a constantly written file are debounced", async () => {
    const { subscribe, told, next } = await connect();
    await subscribe(at("a.txt"), at("fence.txt"));
    for (let count = 0; count < 1_000; count++) write("a.txt", String(count));
    const fence = next(at("fence.txt"));
    write("fence.txt", "done");
    await fence;
    const updates = told.filter((uri) => uri === at("a.txt")).length;
    expect(updates).toBeGreaterThan(0);
    expect(updates).toBeLessThan(50);
  });

  test("closing it leaves nothing behind", async () => {
    const { subscribe, close } = await connect();
    await subscribe(at("a.txt"));
    expect(watcher.status().kind).toBe("events");
    await close();
    expect(watcher.status().kind).toBe("idle");
  });
});

test("a token of the project may subscribe; one of another project is refused", async () => {
  const post = (token: string) =>
    fetch(server.url, {
      method: "POST",
      headers: {
        ...toHeaders(token),
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: {
          notifications: { resourceSubscriptions: [at("a.txt"), `file://${base}/secret.txt`] },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
  const own = await post(tokens.create({ scopes: [`project:${PROJECT}:ro`] }).token);
  const reader = own.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = (await reader?.read())?.value;
  expect(first).toContain(JSON.stringify({ resourceSubscriptions: [at("a.txt")] }));
  await reader?.cancel();
  expect((await post(tokens.create({ scopes: ["project:other"] }).token)).status).toBe(403);
});
