import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EndRecord, SERVER_MARK } from "./protocol.ts";
import { SupervisorClient } from "./supervisor-client.ts";

test("a supervisor that starts slowly on a busy machine is waited for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-supervisor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { promise: ended, resolve } = Promise.withResolvers<EndRecord>();
  const caps = { head: 1_000, tail: 1_000 };
  // No program starts within a millisecond, so each of these looks finds one that has not answered.
  const client = new SupervisorClient(
    { server: "slow", folder, caps, limits: {} },
    { output() {}, ended: (_proc_id, end) => resolve(end), lost() {} },
    1,
  );
  const started = await client.ask("start", {
    ...{ proc_id: "proc_1", owner: "test", command: "true", argv: ["true"], name: "true", program: "true" },
    ...{ cwd: "/", folder: "/", launched: false, guardFile: null, env: { [SERVER_MARK]: "slow" } },
    ...{ stdin: "closed", pty: null, timeoutMs: null, prepared: null },
  });
  expect(started.pid).toBeGreaterThan(0);
  expect(await ended).toMatchObject({ status: "exited", exit_code: 0 });
  await client.close();
});
