import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Client,
  type Notification,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startPrinting, stdioOf } from "./printing-command.ts";

let project: FixtureProject;
let sockets: string;
beforeAll(() => {
  project = createFixtureProject();
  sockets = realpathSync(mkdtempSync(join(tmpdir(), "octant-sockets-")));
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(sockets, { recursive: true, force: true });
});

async function connect(transport: Transport, onNotification?: (notification: Notification) => void) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  if (onNotification)
    client.setNotificationHandler("notifications/tools/list_changed", (one) => onNotification(one));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const steady = (text: string) => text.replaceAll(/\d+ ms/g, "N ms");

async function play(client: Client): Promise<readonly string[]> {
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    expect(result).not.toHaveProperty("structuredContent");
    const [block] = result.content;
    return block?.type === "text" ? block.text : "";
  };
  return [
    await call("fs", { action: "read", uri: "src/main.ts" }),
    await call("fs", { action: "list" }),
    await call("fs", { action: "search_text", pattern: "answer" }),
    await call("fs", { action: "read", uri: "absent.ts" }),
    await call("proc", { action: "exec", command: "echo out; exit 3" }),
  ].map(steady);
}

describe("text answers over the wire", () => {
  let here: readonly string[];
  beforeAll(async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(stdioOf(project, "serve", "--answers", "text"));
    here = await play(client);
    await client.close();
  });

  test("octant edge shows each action's own text, like octant serve", async () => {
    const address = `ipc://${sockets}/a`;
    await startPrinting(project, "serve", "--zmq", address);
    expect(here[0]).toMatch(/\[hash [0-9a-f]{12}\]$/);
    expect(here[4]).toBe("out\n[exit 3 after N ms]");
    const there = await play(await connect(stdioOf(project, "edge", "--via", address, "--answers", "text")));
    expect(there).toEqual(here);
  });

  test.skipIf(inject("missing").includes("nats-server"))(
    "an edge over NATS shows each action's own text, for jobs too",
    async () => {
      const nats = await startNatsServer();
      onTestFinished(() => nats.stop());
      await startPrinting(project, "worker", "--nats", nats.url);
      const { printed } = await startPrinting(
        project,
        "serve",
        "--http",
        "--nats",
        nats.url,
        "--answers",
        "text",
      );
      const requestInit = { headers: { authorization: `Bearer ${printed["token"]}` } };
      const client = await connect(
        new StreamableHTTPClientTransport(new URL(String(printed["url"])), { requestInit }),
      );
      expect(await play(client)).toEqual(here);
    },
  );
});

test("an edge whose server returns with other tools notifies its client and lists them", async () => {
  const address = `ipc://${sockets}/b`;
  const first = await startPrinting(project, "serve", "--zmq", address, "--tools", "fs");
  const changed = Promise.withResolvers<Notification>();
  const client = await connect(stdioOf(project, "edge", "--via", address), changed.resolve);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).toEqual(["fs"]);
  await first.stop();
  await startPrinting(project, "serve", "--zmq", address, "--tools", "fs,cas");
  await changed.promise;
  expect(await names()).toEqual(["fs", "cas"]);
  const stored = await client.callTool({ name: "cas", arguments: { action: "store", content: "x" } });
  expect(stored.structuredContent).toMatchObject({ ok: true, data: { size: 1 } });
});
