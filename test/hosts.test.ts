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
    expect(await settled(session_id), said.join("\n")).toMatchObject({ state: "idle", outcome: "done" });
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
});
