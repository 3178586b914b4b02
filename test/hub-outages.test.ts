import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { connectToPostgres } from "../packages/hub/src/store/postgres-connection.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { modelOf } from "./start-hub.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const LIFE_MS = 4_000;
/** Longer than the life of a hub that does not report. */
const OUTAGE_S = 8;

describe.skipIf(inject("missing").includes("postgresql"))("hubs whose database is away for a while", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test("keep their projects: sessions and calls that were passed on wait, and nothing is interrupted", async () => {
    const script = `sleep ${OUTAGE_S}; echo session >> log.txt; echo has:$(wc -l < log.txt)`;
    const provider = await createScriptedProvider(({ results }) =>
      results.length === 0
        ? { parts: [{ call: "proc", input: { action: "exec", command: script } }] }
        : { parts: [{ text: `Saw ${results[0]?.text}` }] },
    );
    onTestFinished(() => provider.close());
    const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const options = { folder, env: modelOf(provider), database: postgres.createDatabase(), lifeMs: LIFE_MS };
    const [a, b] = [await openHub(options), await openHub(options)];
    const { project_id } = await a.get<{ project_id: string }>("project.create", {
      ...{ name: "demo", model: "some-model" },
    });
    const { workspace_id } = await a.get<{ workspace_id: string }>("workspace.create", { project_id });
    const files = join(a.hub.workspaces.folderOf(project_id), workspace_id);
    const { session_id } = await a.get<{ session_id: string }>("session.spawn", {
      ...{ project_id, message: "Go." },
    });
    const command = ["sh", "-c", `echo x > began; sleep ${OUTAGE_S}; echo x > ended; sleep 1; echo answer`];
    const passed = b.call("container.exec", { project_id, workspace_id, command });
    await expect.poll(() => existsSync(join(files, "began")), WAIT).toBe(true);
    postgres.stop();
    await expect.poll(() => existsSync(join(files, "ended")), WAIT).toBe(true);
    postgres.start();
    expect(await passed, [...a.log, ...b.log].join("\n")).toMatchObject({
      ok: true,
      data: { stdout: "answer\n" },
    });
    await expect
      .poll(() => b.get("session.get", { session_id }), WAIT)
      .toMatchObject({ state: "idle", outcome: "done" });
    const { events } = await b.get<{ events: { seq: number; type: string }[] }>("session.events", {
      ...{ session_id, max_events: 1_000 },
    });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
    expect(JSON.stringify(events), [...a.log, ...b.log].join("\n")).toContain("Saw has:1");
    expect([...a.log, ...b.log].join("\n")).not.toContain("taken over");
    expect(await a.hub.store.peers?.owned()).toEqual([project_id]);
  });

  test("a session that failed with its database says so when the database is back", async () => {
    const provider = await createScriptedProvider(() => ({
      parts: [{ call: "proc", input: { action: "exec", command: "sleep 2" } }],
    }));
    onTestFinished(() => provider.close());
    const database = postgres.createDatabase();
    const { get, log } = await openHub({ env: modelOf(provider), database });
    const { project_id } = await get<{ project_id: string }>("project.create", {
      ...{ name: "demo", model: "some-model" },
    });
    const { session_id } = await get<{ session_id: string }>("session.spawn", {
      ...{ project_id, message: "Go." },
    });
    const began = async () =>
      (await get<{ last_index: number }>("session.events", { session_id })).last_index;
    await expect.poll(began, WAIT).toBeGreaterThan(4);
    const { sql, close } = connectToPostgres({ url: database, log() {} });
    onTestFinished(close);
    // Refused at once; a server that is away is waited for.
    await sql`ALTER TABLE octant_hub.records RENAME TO away`;
    await expect.poll(() => log.join("\n"), WAIT).toContain("cannot be stored");
    await sql`ALTER TABLE octant_hub.away RENAME TO records`;
    await expect
      .poll(() => get("session.get", { session_id }), WAIT)
      .toMatchObject({ state: "idle", outcome: "error", problem: expect.stringContaining("records") });
  });
});
