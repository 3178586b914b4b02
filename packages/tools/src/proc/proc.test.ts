import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Caller,
  createCursors,
  createDispatcher,
  createRegistry,
  type Envelope,
  type Progress,
} from "@octant/core";
import { createConfinement, createProcesses, limitsOf } from "@octant/host";
import { afterAll, expect, test } from "vitest";
import { proc } from "./index.ts";

const root = mkdtempSync(join(tmpdir(), "octant-proc-"));
mkdirSync(join(root, "project/src"), { recursive: true });
mkdirSync(join(root, "state"));
const processes = createProcesses({ folder: join(root, "state"), env: process.env });
afterAll(async () => {
  await processes.close();
  rmSync(root, { recursive: true });
});
const confinement = createConfinement([join(root, "project")]);
const [project = ""] = confinement.roots;
const dispatch = createDispatcher({
  registry: createRegistry([proc({ confinement, processes })]),
  cursors: createCursors(Buffer.from("test secret")),
  onBug: ({ cause }) => {
    throw cause;
  },
});
const local: Caller = { id: "local", access: "admin" };

async function call(
  action: string,
  input: unknown,
  options: { caller?: Caller; signal?: AbortSignal; onProgress?: (update: Progress) => void } = {},
): Promise<Envelope> {
  return (await dispatch({ tool: "proc", action, input }, { caller: local, ...options })).envelope;
}

/** The data of a call that must succeed. */
async function data(action: string, input: unknown): Promise<Record<string, never>> {
  const envelope = await call(action, input);
  expect(envelope.error).toBeNull();
  return envelope.data as Record<string, never>; // Each test knows its type.
}

test("a command that fails is a result: exit code, both streams and refs", async () => {
  expect(await call("exec", { command: "echo out; echo err >&2; exit 3" })).toMatchObject({
    ok: true,
    data: {
      status: "exited",
      exit_code: 3,
      signal: null,
      stdout: "out\n",
      stderr: "err\n",
      stdout_ref: expect.stringMatching(/^stdout:proc_/),
      truncated: false,
    },
  });
});

test.runIf(limitsOf().memory)(
  "a command that uses too much memory is killed, and the answer says so",
  async () => {
    mkdirSync(join(root, "limited"));
    const limited = createProcesses({
      folder: join(root, "limited"),
      env: process.env,
      limits: { memoryBytes: 64 * 1024 * 1024 },
    });
    const calls = createDispatcher({
      registry: createRegistry([proc({ confinement, processes: limited })]),
      cursors: createCursors(Buffer.from("test secret")),
      onBug: ({ cause }) => {
        throw cause;
      },
    });
    const command = ["python3", "-c", "hog = bytearray(200 * 1024 * 1024)"];
    const { envelope } = await calls({ tool: "proc", action: "exec", input: { command } }, { caller: local });
    expect(envelope.data).toMatchObject({
      status: "killed",
      signal: "SIGKILL",
      limit: "memory",
      note: expect.stringMatching(/memory/),
    });
    await limited.close();
  },
);

test("a list is passed to the program unchanged, in the requested folder", async () => {
  const { stdout } = await data("exec", { command: ["printf", "%s\\n", "$HOME", "a b"], cwd: "src" });
  expect(stdout).toBe("$HOME\na b\n");
  expect((await data("exec", { command: "pwd", cwd: "src" }))["stdout"]).toBe(`${project}/src\n`);
});

test("a folder outside the workspace, or a missing one, is refused", async () => {
  expect(await call("exec", { command: "pwd", cwd: "/etc" })).toMatchObject({
    error: { code: "OUTSIDE_WORKSPACE" },
  });
  expect(await call("exec", { command: "pwd", cwd: "nowhere" })).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
  expect(await call("exec", { command: ["no-such-program"] })).toMatchObject({
    error: { code: "EXEC_FAILED", details: { program: "no-such-program" } },
  });
});

test("stdin and env reach the command, in the requested shell", async () => {
  const command = 'read line; echo "$line $WHO $0"';
  const { stdout } = await data("exec", { command, stdin: "hello\n", env: { WHO: "you" }, shell: "/bin/sh" });
  expect(stdout).toBe("hello you /bin/sh\n");
  expect(await call("exec", { command: "true", env: { "A=B": "x" } })).toMatchObject({
    error: { code: "INVALID_ARGUMENT" },
  });
});

test("long output comes as head and tail within the budget", async () => {
  const answer = await data("exec", { command: "seq 1 100000; seq 1 100000 >&2", max_bytes: 4_000 });
  expect(answer["truncated"]).toBe(true);
  expect(answer["stdout"]).toMatch(
    /^1\n2\n[\s\S]*\[… \d+ bytes left out; fs.read stdout:proc_\w+ has them\]\n[\s\S]*\n100000\n$/,
  );
  expect(Buffer.byteLength(`${answer["stdout"]}${answer["stderr"]}`)).toBeLessThan(4_300);
});

test("escapes are removed unless raw is set, and binary output is described", async () => {
  const command = "printf '\\033[31mred\\033[0m\\n'";
  expect((await data("exec", { command }))["stdout"]).toBe("red\n");
  expect((await data("exec", { command, raw: true }))["stdout"]).toBe("\x1b[31mred\x1b[0m\n");
  expect((await data("exec", { command: "printf 'a\\000b'" }))["stdout"]).toBe("[3 bytes that are not text]");
});

test("a command that outlives wait continues, can be followed, and is ended by kill", async () => {
  const { proc_id, status, note } = await data("exec", {
    command: "echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 60",
    wait: 50,
  });
  expect(status).toBe("running");
  expect(note).toMatch(/proc\.logs/);
  const first = await data("logs", { proc_id, since: 0, follow: true });
  expect(first).toMatchObject({ text: "one\n", next: 4, status: "running" });
  writeFileSync(join(project, "go"), "");
  expect(await data("logs", { proc_id, since: first["next"], follow: true })).toMatchObject({
    text: "two\n",
  });
  expect(await data("ps", { filter: "running" })).toMatchObject({ processes: [{ proc_id }] });
  expect(await data("kill", { proc_id })).toMatchObject({
    status: "killed",
    signal: "SIGTERM",
    exit_code: null,
  });
  expect(await data("logs", { proc_id, tail: 1 })).toMatchObject({ text: "two\n", missing: 0 });
});

test("a timeout is reported as such, and the output is kept", async () => {
  expect(await data("exec", { command: "echo begun; sleep 60", timeout: 2_000 })).toMatchObject({
    status: "timed_out",
    stdout: "begun\n",
  });
});

test("wait_for answers as soon as a text is printed, in any colour", async () => {
  const command = "printf 'loading\\n\\033[32mready\\033[0m in 3 ms\\n'; sleep 60";
  const answer = await data("exec", { command, wait_for: { pattern: "listening on|ready in" } });
  expect(answer).toMatchObject({ status: "running", ready: true, stdout: "loading\nready in 3 ms\n" });
  await data("kill", { proc_id: answer["proc_id"] });
});

test("wait_for is false when the command ends without the text", async () => {
  expect(await data("exec", { command: "echo bye", wait_for: { pattern: "ready" } })).toMatchObject({
    status: "exited",
    ready: false,
  });
});

test("wait_for answers when the port opens, and refuses one that was already open", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number }; // It listens on TCP.
  const script = `setTimeout(() => require("net").createServer().listen(${port}, "127.0.0.1"), 100)`;
  const input = { command: [process.execPath, "-e", script], wait_for: { port } };
  expect(await call("exec", input)).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
  await new Promise((resolve) => taken.close(resolve));
  const answer = await data("exec", input);
  expect(answer).toMatchObject({ status: "running", ready: true });
  await data("kill", { proc_id: answer["proc_id"] });
});

test.each([
  ["node", [process.execPath, "-i"], "> ", (i: number) => `${i} * 1000 + 7`],
  ["a shell", ["bash", "--norc"], "$ ", (i: number) => `echo $((${i} * 1000 + 7))`],
])("ten exchanges with %s over a terminal", async (_, command, prompt, question) => {
  const env = { PS1: "$ ", NODE_REPL_HISTORY: "" };
  const { proc_id } = await data("exec", { command, env, pty: {}, wait_for: { pattern: prompt } });
  for (let i = 1; i <= 10; i++) {
    const wait_for = { pattern: `${i * 1000 + 7}` };
    const answer = await data("input", {
      proc_id,
      text: question(i),
      keys: ["enter"],
      wait_for,
      wait: 10_000,
    });
    expect(answer).toMatchObject({ ready: true, status: "running" });
  }
  await data("input", { proc_id, keys: ["ctrl-d"], wait: 5_000 });
  expect((await data("kill", { proc_id }))["status"]).not.toBe("running");
});

test("ctrl-c and ctrl-d work without a terminal", async () => {
  const asleep = await data("exec", { command: ["sleep", "60"], background: true });
  expect(await data("input", { proc_id: asleep["proc_id"], keys: ["ctrl-c"] })).toMatchObject({
    status: "killed",
    signal: "SIGINT",
  });
  const cat = await data("exec", { command: ["cat"], background: true });
  const answer = await data("input", { proc_id: cat["proc_id"], text: "line\n", keys: ["ctrl-d"] });
  expect(answer).toMatchObject({ stdout: "line\n", status: "exited", exit_code: 0 });
  for (const key of ["hyper-x", "constructor"])
    expect(await call("input", { proc_id: cat["proc_id"], keys: [key] })).toMatchObject({
      error: { code: "INVALID_ARGUMENT" },
    });
});

test("pages of a log contain every byte once, and never half a character", async () => {
  const { proc_id, stdout } = await data("exec", { command: "for i in $(seq 100); do printf 'äöü😀'; done" });
  let text = "";
  let cursor: string | undefined;
  do {
    const envelope = await call("logs", { proc_id, max_bytes: 50, ...(cursor && { cursor }) });
    text += (envelope.data as { text: string }).text;
    cursor = envelope.meta.paging.cursor ?? undefined;
  } while (cursor !== undefined);
  expect(text).toBe(stdout);
});

test("processes of another caller are NOT_FOUND for every action", async () => {
  const { proc_id } = await data("exec", { command: ["true"] });
  const other: Caller = { id: "other", access: "admin" };
  for (const action of ["logs", "kill", "input"])
    expect(await call(action, { proc_id }, { caller: other })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
  expect((await call("ps", {}, { caller: other })).data).toEqual({ processes: [] });
});

test("ps pages through the caller's own processes, newest first, and lists the machine's by name", async () => {
  for (const i of [1, 2, 3]) await data("exec", { command: ["echo", `paged ${i}`] });
  const first = await call("ps", { filter: "paged", limit: 2 });
  const second = await call("ps", { filter: "paged", limit: 2, cursor: first.meta.paging.cursor });
  const commands = [first, second].flatMap(
    ({ data }) => (data as { processes: { command: string }[] }).processes,
  );
  expect(commands.map(({ command }) => command)).toEqual([
    "echo 'paged 3'",
    "echo 'paged 2'",
    "echo 'paged 1'",
  ]);
  const { machine } = await data("ps", { all: true, limit: 1_000 });
  expect(machine).toContainEqual(expect.objectContaining({ pid: process.pid }));
});

test("a cancelled call ends the command with everything it started", async () => {
  const cancel = new AbortController();
  const answer = call("exec", { command: "sleep 61 & sleep 61" }, { signal: cancel.signal });
  const isRunning = () =>
    [...processes.list("local")].some(
      ({ command, status }) => command.includes("61") && status === "running",
    );
  while (!isRunning()) await new Promise(setImmediate);
  cancel.abort();
  expect(await answer).toMatchObject({ error: { code: "CANCELLED" } });
  expect(isRunning()).toBe(false);
});
