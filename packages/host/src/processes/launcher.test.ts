import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterAll, expect, test } from "vitest";
import { openPlainExchange } from "../sandbox/exchange.ts";
import { carriesMark, listProcesses } from "./process-table.ts";
import { createProcesses } from "./processes.ts";
import { PROCESS_MARK } from "./protocol.ts";
import type { Launcher, ProcessSpec } from "./start-order.ts";

const OWNER = "test";
const NEVER = new AbortController().signal;
const LONG_MS = 20_000;
const root = mkdtempSync(join(tmpdir(), "octant-launcher-"));
const cwd = { fd: openSync(root, "r"), path: root };

const bubblewrap: Launcher = {
  wrap: async ({ argv, folder, env }) => ({
    argv: ["/usr/bin/bwrap", "--bind", "/", "/", "--dev", "/dev", "--chdir", folder, "--", ...argv],
    env,
    folder: "/",
    launcher: true,
    release: () => [],
  }),
  openExchange: async () => openPlainExchange(),
};
const processes = createProcesses({
  folder: mkdtempSync(join(root, "state-")),
  env: process.env,
  sandbox: bubblewrap,
});
afterAll(async () => {
  await processes.close();
  rmSync(root, { recursive: true, force: true });
});

const start = (argv: ProcessSpec["argv"], more: Partial<ProcessSpec> = {}) =>
  processes.start({ argv, cwd, owner: OWNER, label: argv.join(" "), ...more });
const run = async (...args: Parameters<typeof start>) => {
  const { proc_id } = await start(...args);
  const info = await processes.exited(OWNER, proc_id, LONG_MS, NEVER);
  return { info, text: processes.output(OWNER, proc_id, "stdout").read(0, 10_000).bytes.toString() };
};

test("a command runs in its folder, with its environment and its input, through the launcher", async () => {
  const { info, text } = await run(["/bin/sh", "-c", 'pwd; echo "$PWD $GREETING"; cat'], {
    env: { GREETING: "hello" },
    stdin: Buffer.from("given"),
  });
  expect(info).toMatchObject({ status: "exited", exit_code: 0, signal: null });
  expect(text).toBe(`${root}\n${root} hello\ngiven`);
});

test("a terminal is the command's too", async () => {
  const { info, text } = await run(["/bin/sh", "-c", 'test -t 0 && pwd && echo "$PWD"'], {
    pty: { cols: 80, rows: 24 },
  });
  expect(info.exit_code).toBe(0);
  expect(text).toBe(`${root}\r\n${root}\r\n`);
});

test("a process ended by a signal reports which, along with the launcher's exit code", async () => {
  expect((await run(["/bin/sh", "-c", "kill -TERM $$"])).info).toMatchObject({
    status: "exited",
    exit_code: 143,
    signal: "SIGTERM",
  });
  expect((await run(["/bin/sh", "-c", "exit 255"])).info).toMatchObject({ exit_code: 255, signal: null });
});

test("a kill reaches those that left the session of the launcher", async () => {
  const { proc_id } = await start(["/bin/sh", "-c", "setsid sleep 321 & setsid setsid sleep 322 & wait"]);
  const members = () => listProcesses().filter(({ pid }) => carriesMark(pid, `${PROCESS_MARK}=${proc_id}`));
  await expect.poll(() => members().filter(({ name }) => name === "sleep").length).toBe(2);
  expect(await processes.kill(OWNER, proc_id)).toMatchObject({ status: "killed" });
  expect(members()).toEqual([]);
});

test("a disabled sandbox changes nothing about how a command is started and reported", async () => {
  const plain = createProcesses({
    folder: mkdtempSync(join(root, "state-")),
    env: process.env,
    sandbox: {
      ...bubblewrap,
      wrap: async ({ argv, env, folder }) => ({
        argv,
        program: "/bin/sh",
        env,
        folder,
        launcher: false,
        release: () => [],
      }),
    },
  });
  const argv = ["sh", "-c", 'test "$(pwd)" = "$PWD" && test "$0" = sh && exit 137'] as const;
  const { proc_id } = await plain.start({ argv, cwd, owner: OWNER, label: "exit" });
  const info = await plain.exited(OWNER, proc_id, LONG_MS, NEVER);
  expect(info).toMatchObject({ exit_code: 137, signal: null });
  await plain.close();
});

test("a command is started through a sandbox that becomes the command, as on macOS", async () => {
  const becoming = createProcesses({
    folder: mkdtempSync(join(root, "state-")),
    env: process.env,
    sandbox: {
      ...bubblewrap,
      wrap: async ({ argv, env, folder }) => ({
        argv: ["/usr/bin/env", "SANDBOXED=yes", ...argv],
        env,
        folder,
        launcher: false,
        release: () => [],
      }),
    },
  });
  const argv = ["/bin/sh", "-c", 'test "$SANDBOXED" = yes && exit 137'] as const;
  const { proc_id } = await becoming.start({ argv, cwd, owner: OWNER, label: "exit" });
  const info = await becoming.exited(OWNER, proc_id, LONG_MS, NEVER);
  expect(info).toMatchObject({ exit_code: 137, signal: null });
  await becoming.close();
});

test("a sandbox that cannot meet its requirements prevents the command from running", async () => {
  const refusal = new ToolError("SANDBOX_UNAVAILABLE", "no", { required: "bubblewrap", available: "none" });
  const refusing = createProcesses({
    folder: mkdtempSync(join(root, "state-")),
    env: process.env,
    sandbox: { ...bubblewrap, wrap: () => Promise.reject(refusal) },
  });
  await expect(refusing.start({ argv: ["true"], cwd, owner: OWNER, label: "true" })).rejects.toBe(refusal);
  expect([...refusing.list(OWNER)]).toEqual([]);
  await refusing.close();
});
