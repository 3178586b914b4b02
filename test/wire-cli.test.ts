import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { ended, runOctant, startOctant } from "./octant-process.ts";
import { startPrinting } from "./printing-command.ts";

const lacks = (...packages: string[]) => packages.some((name) => inject("missing").includes(name));

let project: FixtureProject;
let sockets: string;
beforeAll(() => {
  project = createFixtureProject();
  sockets = realpathSync(mkdtempSync(join(tmpdir(), "octant-sockets-")));
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(sockets, { recursive: true, force: true });
});

/** The command as a person starts it: once for every way. */
const start = (...args: string[]) => runOctant(args, { cwd: project.root, env: project.env });
const run = (...args: string[]) => callOctant(args, { cwd: project.root, env: project.env });

/** Starts a server for the test, and returns what it printed about itself. */
const serve = async (...args: string[]) => ({
  address: String((await startPrinting(project, "serve", ...args)).printed["address"]),
});

test("octant serve --http --zmq has the store tools on the wire", async () => {
  const address = `ipc://${sockets}/both`;
  const both = await startPrinting(project, "serve", "--http", "--port", "0", "--zmq", address);
  expect(both.printed["url"]).toMatch(/^http:/);
  const stored = await run("call", "--via", address, "cas.store", "content=kept", "--json");
  expect(JSON.parse(stored.stdout)).toMatchObject({
    ok: true,
    data: { hash: expect.stringMatching(/^sha256:/) },
  });
});

describe("octant serve --zmq and octant call --via", () => {
  test("a call over a socket prints the same as a local one, and the server removes its sockets", async () => {
    const address = `ipc://${sockets}/a`;
    const child = startOctant(["serve", "--zmq", address], { cwd: project.root, env: project.env });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    expect(line).toBe(`Octant serves this folder over ZeroMQ: ${address}`);
    const remote = await start("call", "--via", address, "fs.read", "uri=README.md");
    const { code, stdout } = await run("call", "fs.read", "uri=README.md");
    expect(remote).toMatchObject({ code, stdout, stderr: expect.stringMatching(/hash [0-9a-f]{12}$/m) });
    const failed = await run("call", "--via", address, "fs.read", "uri=absent.md");
    expect(failed).toEqual(await run("call", "fs.read", "uri=absent.md"));
    const job = await run("call", "--via", address, "proc.exec", "command=sleep 0.2; echo done", "--json");
    expect(JSON.parse(job.stdout)).toMatchObject({ ok: true, data: { exit_code: 0, stdout: "done\n" } });
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(existsSync(`${sockets}/a`) || existsSync(`${sockets}/a.pub`)).toBe(false);
  });

  test("tcp needs keys, which the server creates; a client without them is refused", async () => {
    const keys = join(sockets, "keys");
    const refused = await run("serve", "--zmq", "tcp://127.0.0.1:*");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("needs keys") });
    const { address } = await serve("--zmq", "tcp://127.0.0.1:*", "--zmq-keys", keys);
    expect(statSync(keys).mode & 0o777).toBe(0o600);
    const { code, stdout } = await run("call", "--via", address, "--keys", keys, "fs.read", "uri=README.md");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "# Demo\n\nA small project.\n" });
    chmodSync(keys, 0o644);
    const open = await run("serve", "--zmq", "tcp://127.0.0.1:*", "--zmq-keys", keys);
    expect(open).toMatchObject({ code: 2, stderr: expect.stringMatching(/can be read by others.*\nhint: /) });
    const without = await run("call", "--via", address, "fs.read", "uri=README.md");
    expect(without).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("no answer") });
  });

  test("a large file is uploaded and downloaded as bytes", async () => {
    const file = join(project.root, "large.bin");
    const bytes = Buffer.alloc(5_000_001, "octant");
    writeFileSync(file, bytes);
    const { address } = await serve("--zmq", `ipc://${sockets}/b`, "--tools", "cas");
    const stored = await start("call", "--via", address, "cas.store", "--upload", file, "--json");
    const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    expect(JSON.parse(stored.stdout)).toMatchObject({ ok: true, data: { hash, size: bytes.length } });
    const copy = join(sockets, "copy.bin");
    const got = await start(
      "call",
      "--via",
      address,
      "cas.get",
      `hash=${hash}`,
      "as=binary",
      "--output",
      copy,
    );
    expect(got.code).toBe(0);
    expect(readFileSync(copy).equals(bytes)).toBe(true);
  });

  test.each([
    [["call", "--via", "ipc:///nowhere/at/all", "fs.read"], "there is no server at ipc:///nowhere/at/all"],
    [["call", "--via", "ftp://x", "fs.read"], "invalid address 'ftp://x'"],
    [["serve", "--zmq", "nonsense"], "invalid address 'nonsense'"],
    [["edge"], "edge needs --via ADDRESS"],
    [["edge", "--via", "ipc:///nowhere/at/all"], "there is no server at"],
  ])("octant %j ends with 2 and says what to do", async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain("hint: ");
  });
});

test.skipIf(lacks("python3-zmq", "python3-msgpack"))(
  "a Python client of less than 100 lines does a request, a job, a stream, bytes and a broadcast from the frame table alone",
  async () => {
    const script = join(import.meta.dirname, "fixtures/hoot01-client.py");
    expect(readFileSync(script, "utf8").split("\n").length).toBeLessThan(100);
    const { address } = await serve("--zmq", `ipc://${sockets}/c`, "--tools", "core,store,wire");
    const child = spawn("/usr/bin/python3", [script, address]);
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string; value: unknown });
    const seen = Object.fromEntries(lines.map(({ name, value }) => [name, value]));
    expect(seen["ready"]).toMatchObject({ protocol: "HOOT01", tools: expect.arrayContaining(["fs", "job"]) });
    expect(seen["request"]).toMatchObject([
      { kind: "success", data: { text: "# Demo\n\nA small project.\n" } },
    ]);
    expect(seen["refused"]).toMatchObject([{ kind: "error", error: { code: "INVALID_ARGUMENT" } }]);
    expect(seen["job"]).toMatchObject({ kind: "job_started", tool: "proc" });
    expect(seen["job result"]).toMatchObject([
      { data: { job: { state: "complete" }, result: { ok: true, data: { stdout: "from a job\n" } } } },
    ]);
    const stream = seen["stream"] as { kind: string; chunk?: { text?: string } }[];
    expect(stream.at(0)).toMatchObject({ kind: "stream_start", tool: "proc", rule: "drop_oldest" });
    expect(stream.at(-1)).toMatchObject({ kind: "stream_end", dropped: 0, response: { kind: "success" } });
    expect(stream.filter(({ kind }) => kind === "stream_chunk").length).toBeGreaterThan(0);
    const binary = seen["binary"] as unknown[];
    expect(binary.at(0)).toMatchObject({ kind: "stream_start", bytes: 600_000, rule: "wait" });
    expect(binary.at(-1)).toMatchObject({ kind: "stream_end", response: { kind: "success" } });
    const sizes = binary.slice(1, -1).map((part) => Number(/^<(\d+) bytes>$/.exec(String(part))?.[1]));
    expect(sizes.reduce((sum, size) => sum + size)).toBe(600_000);
    expect(seen["broadcast"]).toContain("complete");
    expect(seen["caught up"]).toMatchObject([
      { data: { events: [{ state: "complete" }], dropped: 0, restarted: false } },
    ]);
  },
);

test.skipIf(lacks("nats-server"))(
  "octant hub and octant host refuse a NATS server that asks for no credentials",
  async () => {
    const nats = await startNatsServer({ config: "" });
    onTestFinished(() => nats.stop());
    for (const args of [
      ["hub", "--port", "0"],
      ["host", "--engine", "local"],
    ]) {
      const { code, stderr, stdout } = await run(...args, "--nats", nats.url);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("asks for no credentials");
      expect(stderr).toContain("--insecure");
    }
  },
);

describe.skipIf(lacks("nats-server"))("octant worker --nats and octant serve --http --nats", () => {
  test("an edge without its own tools serves those of a worker, including jobs", async () => {
    const nats = await startNatsServer();
    onTestFinished(() => nats.stop());
    const nobody = await start("serve", "--http", "--nats", nats.url);
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining("no worker announces itself") });
    const { project: id } = (await startPrinting(project, "worker", "--nats", nats.url)).printed;
    const args = ["serve", "--http", "--nats", nats.url, "--project", String(id)];
    const { url, token } = (await startPrinting(project, ...args)).printed;
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(String(url)), { requestInit }));
    onTestFinished(() => client.close());
    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })).structuredContent;
    expect(await call("fs", { action: "read", uri: "README.md" })).toMatchObject({
      ok: true,
      data: { text: "# Demo\n\nA small project.\n" },
    });
    expect(await call("proc", { action: "exec", command: "echo from the worker" })).toMatchObject({
      ok: true,
      data: { exit_code: 0, stdout: "from the worker\n" },
    });
  });
});
