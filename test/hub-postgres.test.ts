import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { backUpHub, restoreHub } from "../packages/hub/src/index.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { runOctant } from "./octant-process.ts";

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

describe.skipIf(inject("missing").includes("postgresql"))("a hub on PostgreSQL", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test("that cannot start says why and ends", async () => {
    const folder = newFolder();
    const flags = ["--folder", folder, "--database", postgres.createDatabase(), "--nats", "http://server"];
    const env = { PATH: process.env.PATH, HOME: folder };
    const { code, stderr } = await runOctant(["hub", "--port", "0", ...flags], { cwd: folder, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("a NATS address is nats://")]);
  });

  test("runs a session, and its backup is restored to another folder and database", async () => {
    const provider = await createScriptedProvider(({ answers }) =>
      answers === 0
        ? { parts: [{ call: "fs", input: { action: "write", uri: "b.txt", content: "two" } }] }
        : { parts: [{ text: "Done." }] },
    );
    onTestFinished(() => provider.close());
    const env = {
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const database = postgres.createDatabase();
    const { get, folder } = await openHub({ env, database });
    const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
    const { session_id, workspace_id } = await get<Record<string, string>>("session.spawn", {
      ...{ project_id, message: "Go.", model: "some-model" },
    });
    await vi.waitFor(
      async () =>
        expect(await get("session.get", { session_id })).toMatchObject({ state: "idle", outcome: "done" }),
      { timeout: 60_000, interval: 100 },
    );
    expect(existsSync(join(folder, "hub", "hub.db"))).toBe(false);

    const file = join(folder, "backup.tar.gz");
    const tools = { PATH: process.env.PATH, HOME: folder };
    const saved = await backUpHub({ folder: join(folder, "hub"), file, env: tools, database });
    const target = newFolder();
    const given = { folder: join(target, "hub"), file, env: tools };
    // A database with records is refused, and the folder stays usable.
    await expect(restoreHub({ ...given, database })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    const copy = postgres.createDatabase();
    expect(await restoreHub({ ...given, database: copy })).toEqual(saved);
    const restored = await openHub({ folder: target, database: copy });
    expect(await restored.get("session.get", { session_id })).toMatchObject({ state: "idle" });
    expect(await restored.get("workspace.diff", { workspace_id })).toMatchObject({
      patch: expect.stringContaining("+two"),
    });
  });
});
