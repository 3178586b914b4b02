import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { openHostedHub } from "./hosted-hub.ts";
import { kill } from "./start-hub.ts";
import { lacks } from "./ui/lacks.ts";

const say = (text: string) => ({ parts: [{ text }] });
const run = (command: string) => ({ parts: [{ call: "proc", input: { action: "exec", command } }] });
const WAIT = { timeout: 90_000, interval: 300 };

describe.skipIf(lacks("nats-server", "bubblewrap", "postgresql"))("two hubs with hosts", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test("a session goes on at the other hub with its files, branch and events when its hub and the hub's folder are lost", async () => {
    let isInterrupted = false;
    await using opened = await openHostedHub(
      ({ user, results }) => {
        const text = results[0]?.text ?? "";
        if (user === "Commit it.") return text === "" ? run("cat log.txt; git log --oneline") : say("Done.");
        isInterrupted ||= /interrupted/i.test(text);
        if (text === "") return run("echo first > log.txt");
        if (text.includes("has:first")) return say("Done.");
        return isInterrupted ? run("echo has:$(cat log.txt)") : run("echo second >> log.txt; sleep 600");
      },
      { database: postgres.createDatabase() },
    );
    const { hub, base, project_id, spawn, events, settled, said, source } = opened;
    await opened.startHost("host");
    const { session_id, workspace_id } = await spawn("Write log.txt.");
    const other = await opened.startAnotherHub("other");
    const began = async () => (await events(session_id, other)).filter(({ type }) => type === "tool_began");
    await expect.poll(async () => (await began()).length, WAIT).toBe(2);
    await kill(hub.child);
    rmSync(join(base, "hub"), { recursive: true });
    expect(await settled(session_id, other), said()).toMatchObject({ state: "idle", outcome: "done" });
    // The host was not lost, so its files are as they were.
    expect(isInterrupted).toBe(true);
    const all = await events(session_id, other);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    expect(all.filter(({ type }) => type === "end")).toHaveLength(1);
    await other.call("session.message", { session_id, message: "Commit it." });
    expect(await settled(session_id, other), said()).toMatchObject({ outcome: "done" });
    expect(await other.call("workspace.merge", { workspace_id }), said()).toMatchObject({
      merged: true,
      pushed: true,
    });
    expect(await other.call("project.get", { project_id })).toMatchObject({ folder: source });
  }, 240_000);

  test("what a session saved is there when its hub, the hub's folder and its host are lost", async () => {
    await using opened = await openHostedHub(
      ({ user, results }) => {
        const text = results[0]?.text ?? "";
        // The first call after a loss only says so.
        if (user === "Look.")
          return text.includes("has:kept") ? say("Seen.") : run("echo has:$(cat kept.txt)");
        return text === "" ? run("echo kept > kept.txt") : say("Done.");
      },
      { database: postgres.createDatabase() },
    );
    const { hub, base, spawn, settled, said, events } = opened;
    const first = await opened.startHost("one");
    const { session_id, workspace_id } = await spawn("Write kept.txt.");
    expect(await settled(session_id), said()).toMatchObject({ outcome: "done" });
    await Promise.all([kill(hub.child), kill(first.child)]);
    for (const name of ["hub", "one"]) rmSync(join(base, name), { recursive: true });
    const other = await opened.startAnotherHub("other");
    await opened.startHost("two");
    // Calls are passed to the lost hub until its time is over, and say that it ended.
    const diff = () => other.call("workspace.diff", { workspace_id }).catch(String);
    await expect.poll(diff, WAIT).toMatchObject({ patch: expect.stringContaining("+kept") });
    await other.call("session.message", { session_id, message: "Look." });
    expect(await settled(session_id, other), said()).toMatchObject({ outcome: "done" });
    expect(JSON.stringify(await events(session_id, other)), said()).toContain("Seen.");
  }, 240_000);

  test("a hub that was stuck does not end what its successor runs on the same host", async () => {
    await using opened = await openHostedHub(
      ({ results }) => {
        const text = results[0]?.text ?? "";
        if (text === "") return run("sleep 600");
        return text.includes("has:ended") ? say("Done.") : run("sleep 8; echo has:ended");
      },
      { database: postgres.createDatabase() },
    );
    const { hub, spawn, settled, said, events } = opened;
    await opened.startHost("host");
    const { session_id } = await spawn("Go.");
    const other = await opened.startAnotherHub("other");
    const began = async () => (await events(session_id, other)).filter(({ type }) => type === "tool_began");
    await expect.poll(async () => (await began()).length, WAIT).toBe(1);
    hub.child.kill("SIGSTOP");
    await expect.poll(async () => (await began()).length, WAIT).toBe(2);
    hub.child.kill("SIGCONT");
    expect(await settled(session_id, other), said()).toMatchObject({ state: "idle", outcome: "done" });
    const ended = (await events(session_id, other)).filter(({ type }) => type === "tool_ended");
    expect(
      ended.map(({ is_error }) => is_error),
      said(),
    ).toEqual([true, false]);
  }, 240_000);
});
