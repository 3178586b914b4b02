import { randomUUID } from "node:crypto";
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { conversations, featureConversations, steady } from "../../testing/conversations.ts";
import { createDemo } from "../../testing/demo.ts";
import { withoutDifferences } from "../../testing/differences.ts";
import { createDemoFeatures } from "../../testing/features.ts";
import { modernHeaders, serveDemo } from "../../testing/http.ts";
import { createOracle } from "../../testing/oracle.ts";
import { isPlain, toMessage } from "../messages.ts";
import { isModern } from "./headers.ts";

/** `npm run torture -- --only fuzz-runs` has more. A failure prints its seed. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 25);
const MAX_MS = 60_000 + RUNS * 500;

type Headers = Readonly<Record<string, string>>;
type Post = (message: unknown, headers: Headers) => Promise<Response>;

/** The SDK's answers without a listener: its handlers take web-standard requests. */
const toPost =
  (handle: (request: Request) => Promise<Response>, shared: Headers): Post =>
  (message, headers) =>
    handle(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers: { ...shared, ...headers },
        body: JSON.stringify(message),
      }),
    );

const toAnswer = async (response: Response) => ({
  status: response.status,
  type: response.headers.get("content-type"),
  body: withoutDifferences(JSON.parse((await response.text()) || "null")),
});

const messages = [...steady(conversations), ...steady(featureConversations)].map(([message]) => message);
/** Whether it is a request or notification of a session; the SDK answers other values with -32700, we with -32600. */
const isOfSession = (message: unknown) => {
  const method = toMessage(message)?.method;
  return method !== undefined && method !== "initialize" && !isModern({}, message);
};

test(
  "any modern request over HTTP gets the same answer as from the official SDK",
  async () => {
    const options = { ...createDemo().options, ...createDemoFeatures() };
    const handler = createMcpHandler(() => createOracle(options, "modern"), { legacy: "reject" });
    onTestFinished(() => handler.close());
    const { post, headers } = await serveDemo(createDemoFeatures());
    const reference = toPost(handler.fetch, headers);
    const sent = messages.filter((message) => isModern(modernHeaders(message), message));
    const id = fc.oneof(fc.string(), fc.integer());
    const request = fc.tuple(fc.constantFrom(...sent), id, fc.jsonValue()).map(([message, id, value]) => {
      if (!isPlain(message) || !isPlain(message["params"]) || !("id" in message)) return message;
      const { params } = message;
      const args = isPlain(params["arguments"]) ? { ...params["arguments"], text: value } : undefined;
      return { ...message, id, params: { ...params, ...(args && { arguments: args }) } };
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), async (requests) => {
        const answers = (post: Post) =>
          Promise.all(requests.map(async (one) => toAnswer(await post(one, modernHeaders(one)))));
        expect(await answers(post)).toEqual(await answers(reference));
      }),
      { numRuns: RUNS },
    );
  },
  MAX_MS,
);

test(
  "any order of messages in an HTTP session gets the same answers as from the official SDK",
  async () => {
    const { post, headers } = await serveDemo(createDemoFeatures());
    const legacy = messages.filter(isOfSession);
    const versions = fc.constantFrom("2025-11-25", "2025-06-18", "2025-03-26");
    await fc.assert(
      fc.asyncProperty(
        versions,
        fc.array(fc.constantFrom(...legacy), { minLength: 1, maxLength: 12 }),
        async (version, conversation) => {
          const transport = new WebStandardStreamableHTTPServerTransport({
            sessionIdGenerator: () => randomUUID(),
            enableJsonResponse: true,
          });
          const options = { ...createDemo().options, ...createDemoFeatures() };
          const server = createOracle(options, "legacy");
          await server.connect(transport);
          const reference = toPost((request) => transport.handleRequest(request), headers);
          expect(await converse(post, version, conversation)).toEqual(
            await converse(reference, version, conversation),
          );
          await server.close();
        },
      ),
      { numRuns: RUNS },
    );
  },
  MAX_MS,
);

/** A handshake, then the messages one after the other. */
async function converse(post: Post, version: string, messages: readonly unknown[]) {
  const handshake = {
    jsonrpc: "2.0",
    id: "handshake",
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const opened = await post(handshake, {});
  const session = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "none",
    "mcp-protocol-version": version,
  };
  const answers = [await toAnswer(opened)];
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  for (const message of [initialized, ...messages])
    answers.push(await toAnswer(await post(message, session)));
  return answers;
}
