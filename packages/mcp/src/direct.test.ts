import { StdioServerTransport, serveStdio as serveWithSdk } from "@modelcontextprotocol/server/stdio";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conversations, featureConversations, invalidRequests, type Step } from "./fixtures/conversations.ts";
import { createDemo } from "./fixtures/demo.ts";
import { createDemoFeatures } from "./fixtures/features.ts";
import { createLineClient, type LineClient } from "./fixtures/lines.ts";
import { createAllowance, createSubscriptions } from "./listening/subscriptions.ts";
import { createSdkServer } from "./sdk-server.ts";
import { createService, type ServiceOptions } from "./service.ts";
import { serveStdio } from "./stdio.ts";
import { createToolRunner } from "./tool-runner.ts";

async function play(
  steps: readonly Step[],
  client: LineClient,
  close: () => Promise<unknown>,
): Promise<string[]> {
  for (const [message, answers] of steps) {
    client.send(message);
    for (let count = 0; count < answers; count++) await client.next();
  }
  await close();
  return client.seen;
}

function playDirect(steps: readonly Step[], more: Partial<ServiceOptions> = {}): Promise<string[]> {
  const client = createLineClient();
  const server = serveStdio({ ...createDemo().options, ...more, ...client });
  return play(steps, client, server.close);
}

function playWithSdk(steps: readonly Step[], more: Partial<ServiceOptions> = {}): Promise<string[]> {
  const client = createLineClient();
  const service = createService({ ...createDemo().options, ...more });
  const runTool = createToolRunner(service);
  const transport = new StdioServerTransport(client.input, client.output);
  const subscriptions = createSubscriptions({
    ...{ service, allowance: createAllowance() },
    tell: () => {},
    canTell: () => true,
  });
  const server = serveWithSdk(({ era }) => createSdkServer(service, runTool, era, subscriptions), {
    transport,
  });
  return play(steps, client, server.close);
}

describe("the direct path writes what the SDK writes", () => {
  test.each(Object.entries(conversations))("%s", async (_name, steps) => {
    const [direct, reference] = await Promise.all([playDirect(steps), playWithSdk(steps)]);
    expect(direct).toEqual(reference);
    expect(direct.length).toBeGreaterThan(0);
  });
});

describe("the direct path writes what the SDK writes, for a server with more than tools", () => {
  const ways = { structured: {}, text: { answers: "text" } } as const;
  test.each(Object.entries(featureConversations))("%s", async (_name, steps) => {
    for (const answers of Object.values(ways)) {
      const more = { ...createDemoFeatures(), ...answers };
      const [direct, reference] = await Promise.all([playDirect(steps, more), playWithSdk(steps, more)]);
      expect(direct).toEqual(reference.map((line) => introduced(line, more)));
      expect(direct).toHaveLength(steps.filter(([, count]) => count > 0).length);
    }
  });
});

/** The one thing that we say and the SDK does not: discover also tells what the server is, and shows its icons. */
function introduced(
  line: string,
  { title, description, websiteUrl, icons }: Partial<ServiceOptions>,
): string {
  const short = `"title":${JSON.stringify(title)}}`;
  const full = `${JSON.stringify({ title, description, websiteUrl, icons }).slice(1)}`;
  return line.startsWith('{"result":{"supportedVersions"') ? line.replace(short, () => full) : line;
}

test.each(invalidRequests)(
  "%j, about which the SDK is silent, is an invalid request",
  async (message, ids) => {
    const ping: Step = [{ jsonrpc: "2.0", id: "last", method: "ping" }, 1];
    const [direct, reference] = await Promise.all([
      playDirect([[message, ids.length], ping]),
      playWithSdk([[message, 0], ping]),
    ]);
    const refusals = direct.slice(0, -1).map((line) => JSON.parse(line));
    expect(refusals.map(({ id }) => id)).toEqual(ids);
    for (const { error } of refusals) expect(error).toMatchObject({ code: -32600 });
    expect(direct.slice(-1)).toEqual(reference);
  },
);

test("any order of these messages is answered as the SDK answers it", async () => {
  // How often a change of the list is told depends on the order, so those steps stay out.
  const steady = Object.entries(conversations).flatMap(([name, steps]) =>
    /subscription|change|doubtful probe/.test(name) ? [] : steps,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...steady), { minLength: 1, maxLength: 12 }), async (steps) => {
      const [direct, reference] = await Promise.all([playDirect(steps), playWithSdk(steps)]);
      expect(direct).toEqual(reference);
    }),
    { numRuns: 150 },
  );
});

test("whatever a client says about itself is judged as the SDK judges it", async () => {
  const inside = fc.constantFrom<unknown>(
    {},
    true,
    null,
    5,
    "x",
    [],
    { deep: 1 },
    { applyDefaults: true },
    { applyDefaults: 1 },
  );
  const members = fc.dictionary(
    fc.constantFrom("listChanged", "form", "url", "tools", "requests", "x"),
    inside,
    { maxKeys: 2 },
  );
  const names = fc.constantFrom(
    "roots",
    "elicitation",
    "sampling",
    "tasks",
    "experimental",
    "extensions",
    "other",
  );
  const capabilities = fc.oneof(fc.dictionary(names, fc.oneof(members, inside), { maxKeys: 3 }), inside);
  const facts = fc.constantFrom("title", "websiteUrl", "description", "icons", "name", "other");
  const fact = fc.constantFrom<unknown>(
    "text",
    null,
    5,
    [],
    [{ src: "x" }],
    [{ src: "x", theme: "dim" }],
    [{ src: "x", sizes: ["any"] }],
  );
  const clientInfo = fc
    .dictionary(facts, fact, { maxKeys: 2 })
    .map((over) => ({ name: "test", version: "1", ...over }));
  await fc.assert(
    fc.asyncProperty(capabilities, clientInfo, async (capabilities, clientInfo) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": clientInfo,
      };
      const handshake = { protocolVersion: "2025-11-25", capabilities, clientInfo };
      for (const [method, params] of Object.entries({
        initialize: handshake,
        "server/discover": { _meta },
      })) {
        const steps: Step[] = [
          [{ jsonrpc: "2.0", id: 1, method, params }, 1],
          [{ jsonrpc: "2.0", id: 2, method: "tools/list", params: { _meta } }, 1],
          [{ jsonrpc: "2.0", id: 3, method: "ping" }, 1],
        ];
        const [direct, reference] = await Promise.all([playDirect(steps), playWithSdk(steps)]);
        expect(direct).toEqual(reference);
      }
    }),
    { numRuns: 100 },
  );
});
