import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openHostedHub } from "./hosted-hub.ts";
import { lacks } from "./ui/lacks.ts";

const say = (text: string) => ({ parts: [{ text }] });
const use = (tool: string, input: object) => ({ parts: [{ call: tool, input }] });
const write = (uri: string, content: string) => use("fs", { action: "write", uri, content });

describe.skipIf(lacks("nats-server", "bubblewrap"))("a hub with hosts", () => {
  test("a session works on a host, and its branch is merged on the hub", async () => {
    await using opened = await openHostedHub([write("b.txt", "two\n"), say("Done.")]);
    const { hub, source, base, spawn, settled, startHost, said } = opened;
    await startHost("one");
    const { session_id, workspace_id } = await spawn("Write b.txt.");
    expect(await settled(session_id), said()).toMatchObject({ state: "idle", outcome: "done" });
    const places = join(base, "one", "places");
    const [place = ""] = readdirSync(places);
    expect(readFileSync(join(places, place, "w", workspace_id, "b.txt"), "utf8")).toBe("two\n");
    expect(await hub.call("workspace.merge", { workspace_id })).toMatchObject({
      merged: true,
      pushed: true,
    });
    expect(readFileSync(join(source, "b.txt"), "utf8")).toBe("two\n");
    // The hub has no files of the workspace.
    expect(existsSync(join(base, "one", "hub.db"))).toBe(false);
  });

  test("a workspace that left its host for other work has its undo and memories at its next place", async () => {
    let undo = "";
    const read: string[] = [];
    await using opened = await openHostedHub(({ user, results }) => {
      const text = results[0]?.text;
      if (user === "First.") {
        if (text === undefined) return write("b.txt", "two\n");
        undo ||= /undo (blob:sha256:[0-9a-f]{64})/.exec(text)?.[1] ?? "";
        if (text.startsWith("created")) return use("memory", { action: "create", text: "Node 24." });
      }
      if (user === "Again.") {
        if (text === undefined) return use("fs", { action: "apply_patch", patch: undo });
        read.push(text);
        if (read.length === 1) return use("memory", { action: "manage" });
      }
      return say("Done.");
    });
    const { hub, spawn, settled, startHost, events, said, base } = opened;
    await startHost("one", ["--max-sessions", "1"]);
    const { session_id } = await spawn("First.");
    expect(await settled(session_id), said()).toMatchObject({ outcome: "done" });
    const before = readdirSync(join(base, "one", "places"));
    expect(await settled((await spawn("Other.")).session_id), said()).toMatchObject({ outcome: "done" });
    await hub.call("session.message", { session_id, message: "Again." });
    expect(await settled(session_id), said()).toMatchObject({ outcome: "done" });
    expect(readdirSync(join(base, "one", "places"))).not.toEqual(before);
    expect(read, said()).toEqual([
      expect.stringContaining("deleted b.txt"),
      expect.stringContaining("Node 24."),
    ]);
    expect((await events(session_id)).filter(({ name }) => name === "host_lost")).toEqual([]);
  }, 120_000);

  test("when a host is killed, its session continues on another host, and the model reads what was lost", async () => {
    let isTold = false;
    await using opened = await openHostedHub(({ results }) => {
      const text = results[0]?.text;
      isTold ||= text?.includes("INTERRUPTED") ?? false;
      if (text === undefined) return write("kept.txt", "one\n");
      if (isTold && text.includes("has:one")) return say("Done.");
      // The first look gives the hub time to save, the second one is cut off.
      return use("proc", exec(text.includes("has:one") ? "sleep 600" : "sleep 4; echo has:$(cat kept.txt)"));
    });
    const { spawn, settled, startHost, events, said, hub } = opened;
    const first = await startHost("one", ["--max-sessions", "1"]);
    const { session_id, workspace_id } = await spawn("Write kept.txt.");
    const calls = async () => (await events(session_id)).filter(({ type }) => type === "tool_began").length;
    await expect.poll(calls, { timeout: 90_000, interval: 500 }).toBe(3);
    await startHost("two");
    first.child.kill("SIGKILL");
    expect(await settled(session_id), said()).toMatchObject({ state: "idle", outcome: "done" });
    expect((await events(session_id)).filter(({ name }) => name === "host_lost")).toMatchObject([
      { data: { message: expect.stringContaining("running processes are lost") } },
    ]);
    expect(isTold).toBe(true);
    // The hub saved it before the loss.
    expect(await hub.call("workspace.diff", { workspace_id })).toMatchObject({
      patch: expect.stringContaining("+one"),
    });
  }, 240_000);
});

const exec = (script: string) => ({ action: "exec", command: ["sh", "-c", script] });
