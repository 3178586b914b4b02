import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createOctant } from "@octant/app";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWN_TOOLS } from "../packages/app/src/tools/own-tools.ts";
import { textPlacesOf } from "./denied/declared.ts";
import { inputsWith } from "./denied/inputs.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { lacks } from "./ui/lacks.ts";
import { openUi, type UiClient } from "./ui/ui-client.ts";
import { openWaysOut, tryWays, type WaysOut } from "./ui/ways-out.ts";

const caller = { id: "test", access: "admin" } as const;

async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address of that form.
  return { server, port: (server.address() as AddressInfo).port };
}

const reached: string[] = [];
const denied = await listen((request, response) => {
  reached.push(request.url ?? "");
  response.end("reached");
});
const door = await listen((_request, response) =>
  response.writeHead(302, { location: `http://127.0.0.1:${denied.port}/redirected` }).end(),
);
const project = createFixtureProject();
const rule = { tool_pattern: "*", mode: "deny", args: { host: `127.0.0.1:${denied.port}` } };
mkdirSync(join(project.env["HOME"] ?? "", ".config/hanzo"), { recursive: true });
writeFileSync(
  join(project.env["HOME"] ?? "", ".config/hanzo/settings.json"),
  JSON.stringify({ permissions: [rule] }),
);
const octant = createOctant({
  projectPath: project.root,
  env: project.env,
  tools: Object.keys(OWN_TOOLS),
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
  for (const { server } of [denied, door]) server.close();
});

/** By its name, by a name that resolves to it, and by a redirect. */
const URLS = [
  `http://127.0.0.1:${denied.port}/`,
  `http://localhost:${denied.port}/`,
  `http://2130706433:${denied.port}/`,
  `http://127.0.0.1:${door.port}/`,
];
const takers = octant.registry.list().flatMap((tool) =>
  Object.entries(tool.actions)
    .filter(([, act]) => textPlacesOf(act).some(({ kind }) => kind === "host" || kind === "address"))
    .map(([name, act]) => ({ label: `${tool.name}.${name}`, tool: tool.name, name, act })),
);

test.each(takers)(
  "$label does not reach a denied host by any name or redirect",
  async ({ tool, name, act }) => {
    if (tool === "ui" && lacks("chromium")) return;
    const isHost = (kind: string | undefined) => kind === "host" || kind === "address";
    const inputs = inputsWith(act, ({ kind }) => (isHost(kind) ? URLS : []));
    expect(inputs.length).toBeGreaterThanOrEqual(URLS.length);
    for (const input of inputs) {
      const call = { tool, action: name, input };
      const { envelope } = await octant.dispatch(call, { caller, timingHint: "async_short" });
      expect.soft(JSON.stringify(envelope), JSON.stringify(input)).not.toContain('"reached"');
    }
    expect(reached).toEqual([]);
  },
);

describe.skipIf(lacks("chromium"))("a page", () => {
  let ways: WaysOut;
  let client: UiClient;
  beforeAll(async () => {
    ways = await openWaysOut();
    const permissions = [{ tool_pattern: "*", mode: "deny", args: { host: ways.denied.host } }];
    client = await openUi({ settings: { permissions } });
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await ways?.[Symbol.asyncDispose]();
  });

  test("reaches no denied host, whatever it loads, and neither do scripts of ui.evaluate", async () => {
    await tryWays(client, ways, "rule 'deny *");
    // The proxy's refusal is an opaque answer to such a request.
    const script = `await fetch("http://${ways.denied.host}/evaluated", { mode: "no-cors" }).catch(() => {})`;
    await client.ui("evaluate", { script });
    expect([...ways.denied.ways]).toEqual([]);
  });
});
