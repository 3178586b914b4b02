import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createGroups } from "./cgroup.ts";
import { createPipeReader, Pipes, type ReadPipe } from "./pipes.ts";
import { PreparedSandboxes } from "./prepared-sandboxes.ts";
import type { Hello, StartOrder } from "./protocol.ts";
import { spoolPath } from "./records.ts";
import { SPOOL_CAPS } from "./spool.ts";
import { Supervised } from "./supervised.ts";

const folder = mkdtempSync(join(tmpdir(), "octant-supervised-"));
const hello: Hello = { server: "1:1:00", folder, caps: SPOOL_CAPS, limits: {} };
const pipes = new Pipes(folder);
const prepared = new PreparedSandboxes(pipes, hello.server);
afterAll(() => {
  pipes.close();
  rmSync(folder, { recursive: true, force: true });
});

const orderOf = (proc_id: string, script: string): StartOrder => ({
  proc_id,
  owner: "test",
  command: script,
  argv: ["/bin/sh", "-c", script],
  name: "/bin/sh",
  program: "/bin/sh",
  cwd: "/",
  folder: "/",
  launched: false,
  guardFile: null,
  env: {},
  stdin: "closed",
  pty: null,
  timeoutMs: null,
  prepared: null,
});

/** As on a machine so busy that the event loop reports an exit, but not the output before it. */
const createLateReader = (): ReadPipe => {
  const readPipe = createPipeReader();
  return (fd, on) => {
    let calls = 0;
    let drainNow: (() => boolean) | undefined;
    return () => {
      calls += 1;
      if (calls === 1) return false;
      drainNow ??= readPipe(fd, on);
      return drainNow();
    };
  };
};

test("output that the event loop has not reported at the exit is read before the exit is", async () => {
  const groups = createGroups(hello.server, {});
  const tools = { pipes, readPipe: createLateReader(), groups, prepared };
  const supervised = new Supervised(
    orderOf("proc_late", "seq 1 1000; echo oops >&2"),
    hello,
    tools,
    () => {},
  );
  await supervised.start();
  expect(await supervised.ended).toMatchObject({ status: "exited", exit_code: 0, output_open: false });
  expect(readFileSync(spoolPath(folder, "proc_late", "stdout"), "utf8").split("\n")).toHaveLength(1_001);
  expect(readFileSync(spoolPath(folder, "proc_late", "stderr"), "utf8")).toBe("oops\n");
  groups.close();
});

test("an exit is reported as incomplete when something holds the output open", async () => {
  const groups = createGroups(hello.server, {});
  const tools = { pipes, readPipe: createPipeReader(), groups, prepared };
  const order = orderOf("proc_held", "echo now; sleep 1 & exit 0");
  const supervised = new Supervised(order, hello, tools, () => {});
  await supervised.start();
  expect(await supervised.ended).toMatchObject({ status: "exited", output_open: true });
  groups.close();
});
