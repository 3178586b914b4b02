import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { MAX_STDIN_BYTES } from "./input-file.ts";
import { carriesMark, isStopped, listProcesses } from "./process-table.ts";
import { createProcesses, OWN_COMMANDS, type ProcessesOptions } from "./processes.ts";
import { sweepRecords } from "./records.ts";
import type { ProcessSpec } from "./start-order.ts";

const OWNER = "test";
const NEVER = new AbortController().signal;
const LONG_MS = 20_000;
const root = mkdtempSync(join(tmpdir(), "octant-processes-"));
const cwd = { fd: openSync(root, "r"), path: root };

/** Processes in a folder of their own, closed when the test is over. */
function create(options: Partial<ProcessesOptions> = {}) {
  const bench = build(options);
  onTestFinished(() => bench.processes.close());
  return bench;
}

function build(options: Partial<ProcessesOptions> = {}) {
  const folder = options.folder ?? mkdtempSync(join(root, "state-"));
  const processes = createProcesses({ env: process.env, ...options, folder });
  const start = (command: string | readonly [string, ...string[]], more: Partial<ProcessSpec> = {}) =>
    processes.start({
      argv: typeof command === "string" ? ["/bin/sh", "-c", command] : command,
      cwd,
      owner: OWNER,
      label: String(command),
      ...more,
    });
  const text = (proc_id: string, stream: "stdout" | "stderr" = "stdout") =>
    processes.output(OWNER, proc_id, stream).read(0, 1_000_000).bytes.toString();
  const run = async (...args: Parameters<typeof start>) => {
    const { proc_id } = await start(...args);
    const info = await processes.exited(OWNER, proc_id, LONG_MS, NEVER);
    return { info, stdout: text(proc_id), stderr: text(proc_id, "stderr") };
  };
  const printed = async (proc_id: string, wanted: string) => {
    const seen = Promise.withResolvers<void>();
    const look = () => {
      if (text(proc_id).includes(wanted)) seen.resolve();
    };
    const stop = processes.onOutput(proc_id, look);
    await Promise.race([seen.promise, processes.exited(OWNER, proc_id, LONG_MS, NEVER)]);
    stop();
    expect(text(proc_id)).toContain(wanted);
  };
  return { processes, folder, start, run, text, printed };
}

/** For tests that do nothing to the supervisor itself. */
const shared = build();
afterAll(async () => {
  await shared.processes.close();
  rmSync(root, { recursive: true, force: true });
});

const withMark = (mark: string) => listProcesses().filter(({ pid }) => carriesMark(pid, mark));
/** Unique per run, so that leftovers of one do not fail the next. */
const RUN = randomUUID();
const marked = (name: string) => ({ env: { OCTANT_TEST: `${name}-${RUN}` } });

/** There is no event for the end of the last process of a tree, so the test polls. */
async function eventually(holds: () => boolean, ms = 30_000): Promise<void> {
  for (const end = performance.now() + ms; !holds() && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(holds()).toBe(true);
}

test("output streams are separate, and any exit code is reported", async () => {
  const { run } = shared;
  expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({
    info: { status: "exited", exit_code: 3, signal: null, stdout_bytes: 4, stderr_bytes: 4 },
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("a signal that ended a process is reported by its name", async () => {
  const { run } = shared;
  const { info } = await run("kill -SEGV $$");
  expect(info).toMatchObject({ status: "exited", exit_code: null, signal: "SIGSEGV" });
});

test("programs can open /dev/stdin, /dev/stdout and /dev/stderr by name", async () => {
  const { run } = shared;
  const command = "cat /dev/stdin >/dev/stdout; echo oops >/dev/stderr";
  expect(await run(command, { stdin: Buffer.from("in\0put") })).toMatchObject({
    info: { exit_code: 0 },
    stdout: "in\0put",
    stderr: "oops\n",
  });
});

test("a process finds itself in its folder, and its input at its end", async () => {
  const { run } = shared;
  const { stdout } = await run("pwd; echo $PWD; cat");
  expect(stdout).toBe(`${root}\n${root}\n`);
});

test("a child gets only harmless variables of the server and cannot read the others from its parent", async () => {
  const { run } = create({
    env: {
      ...process.env,
      API_TOKEN: "canary",
      HTTPS_PROXY: "http://u:canary@p",
      TZ: "UTC",
      LC_PASSWORD: "canary",
      XDG_SECRET_TOKEN: "canary",
      LC_TIME: "C",
      XDG_CACHE_HOME: "/cache",
    },
  });
  const { stdout } = await run("env; cat /proc/$PPID/environ /proc/$PPID/cmdline", { env: { OWN: "given" } });
  expect(stdout).not.toContain("canary");
  expect(stdout).toContain("OWN=given");
  for (const passed of ["TZ=UTC", "LC_TIME=C", "XDG_CACHE_HOME=/cache"]) expect(stdout).toContain(passed);
});

test("a command that cannot start is EXEC_FAILED with the reason, on pipes and on a terminal", async () => {
  const { start } = shared;
  const failure = { code: "EXEC_FAILED", details: { program: "no-such-program" } };
  await expect(start(["no-such-program"])).rejects.toMatchObject(failure);
  await expect(start(["no-such-program"], { pty: { cols: 80, rows: 24 } })).rejects.toMatchObject(failure);
  const refused = { code: "EXEC_FAILED", message: expect.stringContaining("EACCES") };
  await expect(start(["/"])).rejects.toMatchObject(refused);
  await expect(start(["/"], { pty: { cols: 80, rows: 24 } })).rejects.toMatchObject(refused);
  const tooMuch = { stdin: Buffer.alloc(MAX_STDIN_BYTES + 1) };
  await expect(start(["cat"], tooMuch)).rejects.toMatchObject({ code: "TOO_LARGE" });
  const tooLong = "x".repeat(200_000);
  await expect(start(["true", tooLong])).rejects.toMatchObject({ code: "EXEC_FAILED", message: /E2BIG/ });
});

test("a process of another caller is NOT_FOUND", async () => {
  const { processes, start } = shared;
  const { proc_id } = await start(["true"]);
  expect(() => processes.get("other", proc_id)).toThrow(ToolError);
  expect(() => processes.output("other", proc_id, "stdout")).toThrow(/there is no process/);
  expect([...processes.list("other")]).toEqual([]);
});

test("commands that Octant runs for itself are in nobody's list, also not in that of everybody's", async () => {
  const { processes } = shared;
  const cwd = { fd: openSync("/", "r"), path: "/" };
  const { proc_id } = await processes.start({ argv: ["true"], cwd, owner: OWN_COMMANDS, label: "true" });
  closeSync(cwd.fd);
  expect([...processes.list(null)].map((one) => one.proc_id)).not.toContain(proc_id);
  expect(processes.get(OWN_COMMANDS, proc_id)).toMatchObject({ command: "true" });
});

test("more processes than allowed wait for a moment, then are OVERLOADED; ended ones do not count", async () => {
  const { processes, start, run } = create({ maxRunning: 2, queueMs: 2_000 });
  const { proc_id } = await start(["sleep", "60"]);
  await run(["true"]);
  await start(["sleep", "60"]);
  await expect(start(["true"])).rejects.toMatchObject({
    code: "OVERLOADED",
    details: { retry_after_ms: expect.any(Number) },
  });
  const [, { info }] = await Promise.all([processes.kill(OWNER, proc_id), run(["true"])]);
  expect(info.exit_code).toBe(0);
});

test("a timeout ends the whole tree and preserves the output", async () => {
  const { run } = shared;
  const { info, stdout } = await run("echo before; sleep 60 & wait", {
    timeoutMs: 2_000,
    ...marked("timeout"),
  });
  expect(info).toMatchObject({ status: "timed_out", exit_code: null, signal: "SIGTERM" });
  expect(stdout).toBe("before\n");
  await eventually(() => withMark(`OCTANT_TEST=timeout-${RUN}`).length === 0);
});

test("a timeout longer than a timer can be does not fire at once", async () => {
  const { run } = shared;
  expect((await run("sleep 0.1; echo done", { timeoutMs: 2 ** 31 + 5 })).stdout).toBe("done\n");
});

test("kill reaches grandchildren that left the session, and those that ignore SIGTERM", async () => {
  const { processes, start, printed } = shared;
  const { proc_id } = await start(
    "trap '' TERM; setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 60 & echo up; sleep 60; sleep 60",
    marked("tree"),
  );
  await printed(proc_id, "up");
  await eventually(() => withMark(`OCTANT_TEST=tree-${RUN}`).length >= 4);
  const info = await processes.kill(OWNER, proc_id, "SIGKILL");
  expect(info).toMatchObject({ status: "killed", signal: "SIGKILL" });
  expect(withMark(`OCTANT_TEST=tree-${RUN}`)).toEqual([]);
});

test("kill of a process that has ended ends what it left behind", async () => {
  const { processes, run } = shared;
  const { info } = await run("setsid sleep 60 & echo started", marked("left"));
  expect(info).toMatchObject({ status: "exited", exit_code: 0, output_open: true });
  await processes.kill(OWNER, info.proc_id);
  expect(withMark(`OCTANT_TEST=left-${RUN}`)).toEqual([]);
});

test("a signal that is not deadly is only sent", async () => {
  const { processes, start, printed } = shared;
  const { proc_id } = await start("trap 'echo got it; exit 5' USR1; echo up; while :; do sleep 0.02; done");
  await printed(proc_id, "up");
  await processes.kill(OWNER, proc_id, "SIGUSR1");
  expect(await processes.exited(OWNER, proc_id, LONG_MS, NEVER)).toMatchObject({ exit_code: 5 });
});

test("binary output survives, and a ref reads it like a file", async () => {
  const { processes, run } = shared;
  const { info } = await run("printf '\\377\\000\\376'");
  using opened = processes.openRef(`stdout:${info.proc_id}`, OWNER);
  expect(readFileSync(`/proc/self/fd/${opened.fd}`)).toEqual(Buffer.from([0xff, 0, 0xfe]));
  using empty = processes.openRef(`stderr:${info.proc_id}`, OWNER);
  expect(empty.size).toBe(0);
  expect(() => processes.openRef("stdout:proc_unknown", OWNER)).toThrow(/there is no process/);
  expect(() => processes.openRef(`stdout:${info.proc_id}`, "other")).toThrow(/there is no process/);
});

test("a flood of output keeps its head and tail without blocking the child or filling memory", async () => {
  const { processes, run } = create({ caps: { head: 1_000, tail: 1_000_000 } });
  const before = process.memoryUsage.rss();
  const { info } = await run("printf start; head -c 50000000 /dev/zero | tr '\\0' x; printf end");
  const spool = processes.output(OWNER, info.proc_id, "stdout");
  expect(info.stdout_bytes).toBe(50_000_008);
  expect(spool.read(0, 8).bytes.toString()).toBe("startxxx");
  expect(spool.read(info.stdout_bytes - 6, 6).bytes.toString()).toBe("xxxend");
  expect(process.memoryUsage.rss() - before).toBeLessThan(30_000_000);
});

test("input is taken as it comes, until its end", async () => {
  const { processes, start, printed } = shared;
  const { proc_id } = await start("read a; echo got $a; cat; echo end", { stdin: "open" });
  await processes.write(OWNER, proc_id, Buffer.from("one\n"));
  await printed(proc_id, "got one");
  await processes.write(OWNER, proc_id, Buffer.from("two\n"));
  await printed(proc_id, "two");
  await processes.write(OWNER, proc_id, "eof");
  expect(await processes.exited(OWNER, proc_id, LONG_MS, NEVER)).toMatchObject({ exit_code: 0 });
  await expect(processes.write(OWNER, proc_id, Buffer.from("x"))).rejects.toThrow(/does not run any more/);
});

test("a process of another server is read, and neither gets input nor looks stopped", async () => {
  const { start, folder } = shared;
  const { proc_id } = await start("exec cat", { stdin: "open" });
  const other = create({ folder }).processes;
  expect(other.get(OWNER, proc_id)).toMatchObject({ status: "running", server_pid: process.pid });
  for (const act of [other.kill(OWNER, proc_id), other.write(OWNER, proc_id, "eof")])
    await expect(act).rejects.toThrow(`runs in another Octant server, pid ${process.pid}`);
  expect(await shared.processes.kill(OWNER, proc_id)).toMatchObject({ status: "killed" });
});

test("a terminal has a size that can change, a job control that works, and an exit code", async () => {
  const { processes, start, printed } = shared;
  const { proc_id } = await start(["bash", "--norc"], { pty: { cols: 100, rows: 30 }, env: { PS1: "$ " } });
  const type = (text: string) => processes.write(OWNER, proc_id, Buffer.from(text));
  await type("stty size\n");
  await printed(proc_id, "30 100");
  await processes.resize(OWNER, proc_id, { cols: 120, rows: 40 });
  await type("stty size; echo $PWD\n");
  await printed(proc_id, "40 120");
  await printed(proc_id, `\n${root}`);
  await type("sh -c 'echo up$((1)); exec sleep 60'\n");
  await printed(proc_id, "up1");
  await type("\x1a");
  await printed(proc_id, "Stopped");
  // A shell with stopped jobs must be told twice to exit.
  await type("exit\nexit 7\n");
  expect(await processes.exited(OWNER, proc_id, LONG_MS, NEVER)).toMatchObject({ exit_code: 7, pty: true });
});

test("after a restart the ends and the output are still there", async () => {
  const first = create();
  const { info } = await first.run("echo kept; exit 4");
  await first.processes.close();
  const second = create({ folder: first.folder });
  expect(second.processes.get(OWNER, info.proc_id)).toEqual(info);
  expect(second.text(info.proc_id)).toBe("kept\n");
});

test("closing ends every process and reports it as killed", async () => {
  const { processes, folder, start } = create();
  const { proc_id } = await start("setsid sleep 60 & sleep 60", marked("close"));
  await processes.close();
  expect(withMark(`OCTANT_TEST=close-${RUN}`)).toEqual([]);
  expect(create({ folder }).processes.get(OWNER, proc_id)).toMatchObject({ status: "killed" });
  expect(readdirSync(folder).filter((name) => !name.startsWith("proc_"))).toEqual([]);
});

test("a supervisor that dies takes its processes along, and the next start has a new one", async () => {
  const { processes, start, run } = create();
  const { proc_id } = await start("setsid sleep 60 & sleep 60", marked("lost"));
  process.kill(supervisorOf(processes.get(OWNER, proc_id).pid), "SIGKILL");
  expect(await processes.exited(OWNER, proc_id, LONG_MS, NEVER)).toMatchObject({ status: "killed" });
  expect((await run("echo again")).stdout).toBe("again\n");
  await eventually(() => withMark(`OCTANT_TEST=lost-${RUN}`).length === 0);
});

/** Starts a command that stops its supervisor, and then does something else; resolves when it has. */
async function stopSupervisor({ start }: ReturnType<typeof build>, name: string, then: string) {
  const go = join(root, `${name}.go`);
  const info = await start(
    `trap '' TERM; until [ -e ${go} ]; do sleep 0.01; done; kill -STOP $PPID; ${then}`,
    marked(name),
  );
  const supervisor = supervisorOf(info.pid);
  // Only now: it must not stop before the start is answered.
  writeFileSync(go, "");
  await eventually(() => isStopped(supervisor));
  return { ...info, supervisor };
}

test("a supervisor that a command has stopped is replaced, and its processes count as killed", async () => {
  const bench = create();
  const { proc_id } = await stopSupervisor(bench, "stopper", "sleep 60");
  await expect(bench.start(["true"])).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(bench.processes.get(OWNER, proc_id)).toMatchObject({ status: "killed" });
  await eventually(() => withMark(`OCTANT_TEST=stopper-${RUN}`).length === 0);
  expect((await bench.run("echo again")).stdout).toBe("again\n");
});

test("leaving takes down everything although a command stops the supervisor again and again", async () => {
  const bench = create();
  const again = "while :; do kill -STOP $PPID; done";
  const { supervisor } = await stopSupervisor(bench, "stops", again);
  await bench.processes.leave();
  await eventually(() => withMark(`OCTANT_TEST=stops-${RUN}`).length === 0);
  expect(listProcesses().map(({ pid }) => pid)).not.toContain(supervisor);
});

test("leaving does not wait for processes that ignore signals, but ends them", async () => {
  const { processes, folder, start, printed } = create();
  const { proc_id } = await start("trap '' TERM; echo up; while :; do sleep 1; done", marked("leave"));
  await printed(proc_id, "up");
  const killing = processes.kill(OWNER, proc_id);
  const leaving = processes.leave();
  await expect(killing).rejects.toMatchObject({ code: "CANCELLED" });
  await leaving;
  await eventually(() => withMark(`OCTANT_TEST=leave-${RUN}`).length === 0);
  await eventually(() => readdirSync(folder).every((name) => name.startsWith("proc_")));
});

const supervisorOf = (child: number) => listProcesses().find(({ pid }) => pid === child)?.ppid as number;

const HARD_TO_KILL = [
  "sleep 600",
  "setsid sleep 600 & sleep 600",
  "(setsid sh -c 'sleep 600 & sleep 600' &) ; exit 0",
  "trap '' TERM INT HUP; while :; do sleep 1; done",
  "pty:sleep 600 & sleep 600",
];

async function startServer(folder: string, name: string): Promise<ChildProcess> {
  const program = join(import.meta.dirname, "../../testing/processes/server.ts");
  const server = spawn(process.execPath, [program, folder, ...HARD_TO_KILL], {
    // The mark reaches the children through a variable that may pass.
    env: { ...process.env, VOLTA_HOME: `${name}-${RUN}` },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => {
    server.kill("SIGKILL");
  });
  await once(server.stdout as NodeJS.ReadableStream, "data");
  return server;
}

// The front-door tests of `test/processes.test.ts` end servers in all ways, but in a sandbox, which ends its processes too.
test("no descendant outlives a killed server without a sandbox", async () => {
  const folder = mkdtempSync(join(root, "server-"));
  const mine = () => withMark(`VOLTA_HOME=killed-${RUN}`);
  const server = await startServer(folder, "killed");
  await eventually(() => mine().length >= 9);
  server.kill("SIGKILL");
  await eventually(() => mine().length === 0);
  const records = [...create({ folder }).processes.list(OWNER)];
  expect(records.map(({ status }) => status)).not.toContain("running");
});

test("processes that outlived a server and its supervisor are killed by the next server", async () => {
  const folder = mkdtempSync(join(root, "server-"));
  const mine = () => withMark(`VOLTA_HOME=swept-${RUN}`);
  const server = await startServer(folder, "swept");
  await eventually(() => mine().length >= 9);
  const supervisor = listProcesses().find(({ ppid }) => ppid === server.pid)?.pid;
  // Stopped first, so that neither sees the other die.
  process.kill(supervisor as number, "SIGSTOP");
  server.kill("SIGKILL");
  process.kill(supervisor as number, "SIGKILL");
  await once(server, "exit");
  expect(mine().length).toBeGreaterThan(0);
  await create({ folder }).processes.close();
  expect(mine()).toEqual([]);
});

test("a stopped supervisor that outlived its server is swept by the next server", async () => {
  const folder = mkdtempSync(join(root, "server-"));
  const server = await startServer(folder, "stopped");
  const supervisor = listProcesses().find(({ ppid }) => ppid === server.pid)?.pid as number;
  process.kill(supervisor, "SIGSTOP");
  await eventually(() => isStopped(supervisor));
  server.kill("SIGKILL");
  await once(server, "exit");
  await create({ folder }).processes.close();
  expect(withMark(`VOLTA_HOME=stopped-${RUN}`)).toEqual([]);
  expect(listProcesses().map(({ pid }) => pid)).not.toContain(supervisor);
});

test("a record of a newer version or of another shape is one marked row and stays; an older one is read", async () => {
  const { processes, folder, run } = create();
  const ids = [];
  for (const word of ["newer", "older", "torn", "plain"]) ids.push((await run(`echo ${word}`)).info.proc_id);
  const [newer = "", older = "", torn = "", plain = ""] = ids;
  const rewrite = (proc_id: string, change: (start: object) => unknown) => {
    const file = join(folder, `${proc_id}.json`);
    const [, start = "", ...rest] = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, ["", JSON.stringify(change(JSON.parse(start))), ...rest].join("\n"));
  };
  rewrite(newer, (start) => ({ ...start, version: 2, owner: undefined }));
  rewrite(older, (start) => ({ ...start, version: undefined }));
  rewrite(torn, (start) => ({ ...start, caps: undefined }));
  await processes.close();
  const next = create({ folder }).processes;
  expect([...next.list(OWNER)].map((one) => one.proc_id)).toEqual([plain, older]);
  expect([...next.listUnreadable(OWNER)]).toEqual([
    { proc_id: torn, why: "other shape" },
    { proc_id: newer, why: "newer version" },
  ]);
  expect([...next.listUnreadable("another")]).toEqual([{ proc_id: newer, why: "newer version" }]);
  expect(() => next.get(OWNER, newer)).toThrow(`the record of ${newer} is of a newer version; update Octant`);
  expect(() => next.get("another", torn)).toThrow(`there is no process ${torn}`);
  sweepRecords(folder, Date.now(), { maxRecords: 0, maxBytes: 0, maxAgeMs: 0 });
  expect(existsSync(join(folder, `${newer}.json`))).toBe(true);
});

test("old output is removed first, and running processes stay", async () => {
  const { processes, folder, start, run } = create();
  const { proc_id } = await start(["sleep", "60"]);
  const old = await run("echo old");
  const recent = await run("echo recent");
  sweepRecords(folder, Date.now(), { maxRecords: 2, maxBytes: 1_000_000, maxAgeMs: 1_000_000 });
  expect([...processes.list(OWNER)].map((one) => one.proc_id)).toEqual([
    recent.info.proc_id,
    old.info.proc_id,
    proc_id,
  ]);
  sweepRecords(folder, Date.now(), { maxRecords: 1, maxBytes: 1_000_000, maxAgeMs: 1_000_000 });
  expect([...processes.list(OWNER)].map((one) => one.proc_id)).toEqual([recent.info.proc_id, proc_id]);
});
