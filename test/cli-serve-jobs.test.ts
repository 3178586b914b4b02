import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { runOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-serve-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"] ?? "", HOME: base, XDG_STATE_HOME: join(base, ".state") };

async function serve() {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, "serve"],
    cwd: base,
    env,
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: object) =>
    // Octant's envelope.
    (await client.callTool({ name, arguments: { ...input } })).structuredContent as {
      data: { jobs: unknown[] };
      meta: { job_id: string };
    };
  return { pid: transport.pid as number, call, close: () => client.close() };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("commands that ignore signals do not keep the server alive, and their jobs are cancelled", async () => {
  const { pid, call } = await serve();
  const command = "trap '' TERM INT HUP; echo up; while :; do sleep 0.1; done";
  const started = await Promise.all(
    Array.from({ length: 10 }, () => call("proc", { action: "exec", command, wait_for: { pattern: "up" } })),
  );
  process.kill(pid, "SIGTERM");
  await expect.poll(() => isThere(pid)).toBe(false);

  const next = await serve();
  const { data } = await next.call("job", { action: "list", status: "cancelled" });
  expect(data.jobs).toHaveLength(started.length);
});

test("octant jobs lists the jobs of a running server, shows one, and cancels it with its processes", async () => {
  const { call } = await serve();
  const { meta } = await call("proc", { action: "exec", command: "sleep 600", wait: 0 });
  const id = meta.job_id;
  const jobs = (...args: string[]) => runOctant(["jobs", ...args], { cwd: base, env });
  expect((await jobs("--state", "running")).stdout).toMatch(new RegExp(`^${id}  proc.exec: running`, "m"));
  expect(JSON.parse((await jobs("show", id, "--json")).stdout)).toMatchObject({ job: { state: "running" } });
  expect(await jobs("cancel", id)).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await call("proc", { action: "ps" })).data)
    .toMatchObject({
      processes: expect.arrayContaining([
        expect.objectContaining({ command: "sleep 600", status: "killed" }),
      ]),
    });
  expect((await jobs("show", id)).stdout).toContain("proc.exec: cancelled");
  expect(await jobs("cancel")).toMatchObject({ code: 2, stderr: expect.stringContaining("needs an ID") });
  expect(await jobs("show", "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6")).toMatchObject({ code: 1 });
});
