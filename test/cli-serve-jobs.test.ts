import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { LAUNCHER } from "./published-command.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-serve-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function serve() {
  const client = new Client({ name: "test", version: "1" });
  const env = { PATH: process.env["PATH"] ?? "", HOME: base, XDG_STATE_HOME: join(base, ".state") };
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
