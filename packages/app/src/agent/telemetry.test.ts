import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { AgentEvent } from "@octant/agent";
import { createTopic } from "@octant/core";
import { expect, onTestFinished, test } from "vitest";
import { traceSessions } from "./telemetry.ts";

const USAGE = {
  input_tokens: 5,
  cache_read_tokens: 2,
  cache_write_tokens: 1,
  output_tokens: 3,
  reasoning_tokens: 0,
};

/** A collector that takes what the OTLP specification describes, and nothing else. */
async function collect(status = 200) {
  const requests: { readonly headers: NodeJS.Dict<string | string[]>; readonly body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end();
    requests.push({ headers: request.headers, body: await json(request) });
    return response.writeHead(status).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return { requests, endpoint: `http://127.0.0.1:${port}` };
}

/** The events of one run with one call, as a session publishes them. */
function publishRun(
  events: ReturnType<typeof createTopic<AgentEvent>>,
  session_id = "ses_a",
  parent?: string,
) {
  let seq = 0;
  const publish = (event: object) =>
    events.publish({
      seq: ++seq,
      session_id,
      at: new Date(1_700_000_000_000 + seq * 1_000).toISOString(),
      ...event,
    } as AgentEvent);
  publish({
    type: "session_began",
    model: { id: "m-1", provider: "anthropic" },
    ...(parent && { parent: { session_id: parent, kind: "agent" } }),
  });
  publish({ type: "user", origin: "person", content: [{ type: "text", text: "a secret wish" }] });
  publish({ type: "message", stop: "tool_calls", usage: USAGE });
  publish({ type: "tool_began", call_id: "c1", name: "fs" });
  return {
    finish() {
      publish({ type: "tool_ended", call_id: "c1", name: "fs", is_error: true, code: "NOT_FOUND" });
      publish({ type: "end", reason: "done" });
    },
  };
}

const spansIn = (body: unknown) =>
  (body as { resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[] }).resourceSpans[0]
    ?.scopeSpans[0]?.spans ?? [];

test("a run becomes spans for the agent, its requests and its calls, without any text", async () => {
  const { requests, endpoint } = await collect();
  const events = createTopic<AgentEvent>();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
    OTEL_SERVICE_NAME: "mine",
  };
  const tracing = traceSessions(events, env, () => {});
  publishRun(events).finish();
  await tracing?.[Symbol.asyncDispose]();
  expect(requests).toHaveLength(1);
  const { headers, body } = requests[0] ?? {};
  expect(headers?.["x-key"]).toBe("a b");
  const [chat, call, agent] = spansIn(body);
  expect([chat, call, agent].map((span) => span?.["name"])).toEqual([
    "chat m-1",
    "execute_tool fs",
    "invoke_agent octant",
  ]);
  expect(chat?.["parentSpanId"]).toBe(agent?.["spanId"]);
  expect(call).toMatchObject({ parentSpanId: agent?.["spanId"], status: { code: 2, message: "NOT_FOUND" } });
  expect(chat).toMatchObject({
    startTimeUnixNano: "1700000002000000000",
    endTimeUnixNano: "1700000003000000000",
  });
  expect(JSON.stringify(body)).toContain('{"key":"gen_ai.usage.input_tokens","value":{"intValue":"8"}}');
  expect(JSON.stringify(body)).toContain('{"key":"service.name","value":{"stringValue":"mine"}}');
  expect(JSON.stringify(body)).not.toContain("secret wish");
});

test("a sub-agent's run is part of the trace of the call that started it", async () => {
  const { requests, endpoint } = await collect();
  const events = createTopic<AgentEvent>();
  const tracing = traceSessions(events, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, () => {});
  const outer = publishRun(events);
  publishRun(events, "ses_b", "ses_a").finish();
  outer.finish();
  await tracing?.[Symbol.asyncDispose]();
  const spans = spansIn(requests[0]?.body);
  const inner = spans.find(({ name }) => name === "invoke_agent octant");
  const call = spans.filter(({ name }) => name === "execute_tool fs").at(-1);
  expect(inner).toMatchObject({ traceId: call?.["traceId"], parentSpanId: call?.["spanId"] });
});

test("nothing is traced without an address, and a collector that fails is reported once", async () => {
  const events = createTopic<AgentEvent>();
  expect(traceSessions(events, {}, () => {})).toBeUndefined();
  const off = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_SDK_DISABLED: "true" };
  expect(traceSessions(events, off, () => {})).toBeUndefined();
  const { endpoint } = await collect(503);
  const lines: string[] = [];
  const tracing = traceSessions(events, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, (line) =>
    lines.push(line),
  );
  publishRun(events).finish();
  await tracing?.[Symbol.asyncDispose]();
  expect(lines).toEqual([`traces were not sent to ${endpoint}: status 503`]);
});
