import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { conversations, featureConversations } from "../../testing/conversations.ts";
import { createDemo } from "../../testing/demo.ts";
import { withoutDifferences } from "../../testing/differences.ts";
import { createDemoFeatures } from "../../testing/features.ts";
import { modernHeaders, modernRequest, serveDemo } from "../../testing/http.ts";
import { createOracle } from "../../testing/oracle.ts";
import { isModern } from "./headers.ts";

/** The same tools and features on the SDK's own handler. */
async function serveWithSdk(): Promise<string> {
  const options = { ...createDemo().options, ...createDemoFeatures() };
  const handler = createMcpHandler(() => createOracle(options, "modern"), { legacy: "reject" });
  const answer = toNodeHandler(handler);
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const HEADERS: Readonly<Record<string, (body: unknown) => Record<string, string>>> = {
  right: modernHeaders,
  none: () => ({}),
  "another method": (body) => ({ ...modernHeaders(body), "mcp-method": "tools/list" }),
  "another name": (body) => ({ ...modernHeaders(body), "mcp-name": "other" }),
  "another revision": (body) => ({ ...modernHeaders(body), "mcp-protocol-version": "2025-11-25" }),
};

/** Each message once, without those that open a stream or change the list. */
const messages = Object.values({ ...conversations, ...featureConversations })
  .flat()
  .map(([message]) => message)
  .filter((message) => !/subscriptions|"grow"/.test(JSON.stringify(message)));

const good = modernRequest(1, "tools/call", { name: "demo", arguments: { action: "echo" } }).body;
const claiming = (meta: object, method = "tools/call") => ({
  ...good,
  method,
  params: { ...good.params, _meta: { ...good.params._meta, ...meta } },
});

const broken: readonly unknown[] = [
  ...[null, 5, "text", [], {}, [good], [5], [{ jsonrpc: "2.0", method: "ping", id: 1 }, good]],
  ...[{}, [], 1.5, null, 1e300].map((id) => ({ ...good, id })),
  ...["1.0", undefined, 2].map((jsonrpc) => ({ ...good, jsonrpc })),
  ...[undefined, 5, "constructor", "initialize"].map((method) => ({ ...good, method })),
  ...[[], 5, null, {}, { _meta: 5 }].map((params) => ({ ...good, params })),
  ...[{ result: {} }, { error: {} }, { error: { code: 1, message: "" } }].map((outcome) => ({
    jsonrpc: "2.0",
    id: 1,
    ...outcome,
  })),
  ...[
    { ...good, result: {} },
    { ...good, params: { ...good.params, name: [] } },
  ],
  ...["2099-99-99", "2025-11-25", 5].flatMap((version) => [
    claiming({ "io.modelcontextprotocol/protocolVersion": version }),
    claiming({ "io.modelcontextprotocol/protocolVersion": version }, "initialize"),
    { ...claiming({ "io.modelcontextprotocol/protocolVersion": version }), id: undefined },
  ]),
  claiming({ "io.modelcontextprotocol/clientCapabilities": 5 }),
];

/** What is wrong with a header depends on the method alone. */
const oneOfEachMethod = (some: readonly unknown[]) =>
  [...Map.groupBy(some, (message) => Object(message).method).values()].map(([first]) => first);

describe.each(Object.entries(HEADERS))("with %s headers", (name, toHeaders) => {
  const expectSameAnswers = async (sent: readonly unknown[]) => {
    const reference = await serveWithSdk();
    const { post, headers } = await serveDemo(createDemoFeatures());
    let compared = 0;
    for (const message of sent) {
      const own = toHeaders(message);
      if (!isModern(own, message)) continue;
      const body = JSON.stringify(message);
      const [ours, theirs] = await Promise.all([
        post(body, own),
        fetch(reference, { method: "POST", headers: { ...headers, ...own }, body }),
      ]);
      const toAnswer = async (answer: Response) => ({
        sent: message,
        status: answer.status,
        type: answer.headers.get("content-type"),
        body: withoutDifferences(JSON.parse((await answer.text()) || "null")),
      });
      expect(await toAnswer(ours)).toEqual(await toAnswer(theirs));
      compared++;
    }
    return compared;
  };

  test("a modern request is answered like the SDK's own handler does", async () => {
    const sent = messages.filter((message) => isModern(toHeaders(message), message));
    expect(sent.length).toBeGreaterThan(20);
    await expectSameAnswers(name === "right" ? sent : oneOfEachMethod(sent));
  });

  test("an invalid request is refused like the SDK's own handler does", async () => {
    expect(await expectSameAnswers(broken)).toBeGreaterThan(5);
  });
});

test("an unknown method is 404 and -32601", async () => {
  const { post } = await serveDemo();
  const { body, headers } = modernRequest(1, "no/such/method");
  const response = await post(body, headers);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32601 } });
});

test("GET and DELETE are not available without a session", async () => {
  const { server, headers } = await serveDemo();
  for (const method of ["GET", "DELETE"]) {
    const response = await fetch(server.url, { method, headers });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  }
});

test("requested progress comes as events before the answer; without it the answer is plain JSON", async () => {
  const { post, waiting } = await serveDemo();
  const { body, headers } = modernRequest("w", "tools/call", {
    name: "demo",
    arguments: { action: "wait" },
    _meta: { progressToken: "p" },
  });
  const response = await post(body, headers);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  await waiting.started;
  const go = modernRequest("g", "tools/call", { name: "demo", arguments: { action: "go" } });
  const plain = await post(go.body, go.headers);
  expect(plain.headers.get("content-type")).toBe("application/json");
  const events = (await response.text()).split("\n\n").filter(Boolean);
  expect(events).toHaveLength(2);
  expect(events[0]).toContain('"progressToken":"p","progress":1');
  expect(events[1]).toContain('"id":"w"');
});

test("closing the response cancels the call", async () => {
  const { post, waiting } = await serveDemo();
  const controller = new AbortController();
  const { body, headers } = modernRequest(1, "tools/call", { name: "demo", arguments: { action: "wait" } });
  const answer = post(body, headers, controller.signal).catch(() => "gone");
  await waiting.started;
  controller.abort();
  expect(await answer).toBe("gone");
  await expect.poll(() => waiting.cancelled).toBe(1);
});

test("a subscription reports changes until its stream is closed", async () => {
  const { post } = await serveDemo();
  const controller = new AbortController();
  const listen = modernRequest("s", "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const stream = await post(listen.body, listen.headers, controller.signal);
  const events = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await events.read()).value).toContain("notifications/subscriptions/acknowledged");
  const grow = modernRequest(1, "tools/call", { name: "demo", arguments: { action: "grow" } });
  await post(grow.body, grow.headers);
  expect((await events.read()).value).toContain("notifications/tools/list_changed");
  controller.abort();
});

test("many clients under one token with equal ids each get their own answer", async () => {
  const { post } = await serveDemo();
  const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`);
  const answers = await Promise.all(
    texts.map(async (text) => {
      const { body, headers } = modernRequest(1, "tools/call", {
        name: "demo",
        arguments: { action: "echo", text },
      });
      const answer = (await (await post(body, headers)).json()) as {
        result: { structuredContent: { data: { text: string } } };
      };
      return answer.result.structuredContent.data.text;
    }),
  );
  expect(answers).toEqual(texts);
});
