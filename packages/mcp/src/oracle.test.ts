import { once } from "node:events";
import { StdioServerTransport, serveStdio as serveWithSdk } from "@modelcontextprotocol/server/stdio";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  conversations,
  featureConversations,
  invalidRequests,
  type Step,
  steady,
} from "../testing/conversations.ts";
import { createDemo } from "../testing/demo.ts";
import { withoutDifferences } from "../testing/differences.ts";
import { createDemoFeatures } from "../testing/features.ts";
import { serveDemo } from "../testing/http.ts";
import { createLineClient, type LineClient } from "../testing/lines.ts";
import { createOracle } from "../testing/oracle.ts";
import type { ServiceOptions } from "./service.ts";
import { serveStdio } from "./stdio.ts";

/** `npm run torture -- --only fuzz-runs` has more. A failure prints its seed. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 150);

async function play(
  steps: readonly Step[],
  client: LineClient,
  close: () => Promise<unknown>,
): Promise<unknown[]> {
  for (const [message, answers] of steps) {
    client.send(message);
    for (let count = 0; count < answers; count++) await client.next();
  }
  await close();
  return client.seen.map((line) => withoutDifferences(JSON.parse(line)));
}

function playOurs(steps: readonly Step[], more: Partial<ServiceOptions> = {}): Promise<unknown[]> {
  const client = createLineClient();
  const server = serveStdio({ ...createDemo().options, ...more, ...client });
  return play(steps, client, server.close);
}

/** The same over a WebSocket. */
async function playOnSocket(steps: readonly Step[]): Promise<unknown[]> {
  const { server, headers } = await serveDemo(createDemoFeatures());
  const socket = new WebSocket(server.url.replace(/^http(.*)mcp$/, "ws$1ws"), "mcp", {
    headers: { authorization: headers.authorization },
  });
  await once(socket, "open");
  const client = createLineClient();
  socket.on("message", (data) => client.output.write(`${data}\n`));
  client.input.setEncoding("utf8").on("data", (line: string) => socket.send(line));
  return play(steps, client, async () => {
    socket.close();
    await once(socket, "close");
  });
}

function playWithSdk(steps: readonly Step[], more: Partial<ServiceOptions> = {}): Promise<unknown[]> {
  const client = createLineClient();
  const options = { ...createDemo().options, ...more };
  const transport = new StdioServerTransport(client.input, client.output);
  const server = serveWithSdk(({ era }) => createOracle(options, era), { transport });
  return play(steps, client, server.close);
}

describe("a conversation gets the same answers as from the official SDK", () => {
  test.each(Object.entries(conversations))("%s", async (_name, steps) => {
    const [ours, reference] = await Promise.all([playOurs(steps), playWithSdk(steps)]);
    expect(ours).toEqual(reference);
    expect(ours.length).toBeGreaterThan(0);
  });
});

describe("a conversation about resources, prompts and completions gets the same answers as from the official SDK", () => {
  test.each(Object.entries(featureConversations))("%s", async (_name, steps) => {
    for (const answers of [{}, { answers: "text" }] as const) {
      const more = { ...createDemoFeatures(), ...answers };
      const [ours, reference] = await Promise.all([playOurs(steps, more), playWithSdk(steps, more)]);
      expect(ours).toEqual(reference);
      expect(ours).toHaveLength(steps.filter(([, count]) => count > 0).length);
    }
  });
});

test.each(invalidRequests)(
  "%j, about which the SDK is silent, is an invalid request",
  async (message, ids) => {
    const ping: Step = [{ jsonrpc: "2.0", id: "last", method: "ping" }, 1];
    const [ours, reference] = await Promise.all([
      playOurs([[message, ids.length], ping]),
      playWithSdk([[message, 0], ping]),
    ]);
    expect(ours.slice(0, -1)).toEqual(ids.map((id) => ({ jsonrpc: "2.0", id, code: -32600 })));
    expect(ours.slice(-1)).toEqual(reference);
  },
);

describe("a conversation over a WebSocket gets the same answers as from the official SDK", () => {
  test.each(Object.entries(featureConversations))("%s", async (_name, steps) => {
    const [ours, reference] = await Promise.all([
      playOnSocket(steps),
      playWithSdk(steps, createDemoFeatures()),
    ]);
    expect(ours).toEqual(reference);
  });
});

test(
  "any order of these messages gets the same answers as from the official SDK",
  async () => {
    const steps = fc.constantFrom(...steady(conversations), ...steady(featureConversations));
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (conversation) => {
        const [ours, reference] = await Promise.all([
          playOurs(conversation, createDemoFeatures()),
          playWithSdk(conversation, createDemoFeatures()),
        ]);
        expect(ours).toEqual(reference);
      }),
      { numRuns: RUNS },
    );
  },
  60_000 + RUNS * 500,
);

test("a client that the SDK accepts is accepted, however it describes itself", async () => {
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
        const [ours, reference] = await Promise.all([playOurs(steps), playWithSdk(steps)]);
        const isAccepted = !("code" in Object(reference[0]));
        if (isAccepted) expect(ours).toEqual(reference);
      }
    }),
    { numRuns: 100 },
  );
});

test("a modern connection refuses a request for another revision", async () => {
  const claim = (version: string) => ({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  const list = (id: number, version: string): Step => [
    { jsonrpc: "2.0", id, method: "tools/list", params: claim(version) },
    1,
  ];
  expect(await playOurs([list(1, "2026-07-28"), list(2, "2027-01-01")])).toMatchObject([
    { id: 1, result: {} },
    { id: 2, code: -32022 },
  ]);
});
