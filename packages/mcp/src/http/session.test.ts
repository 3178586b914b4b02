import { expect, onTestFinished, test } from "vitest";
import { serveDemo } from "../../testing/http.ts";
import type { HttpOptions } from "./index.ts";
import type { Limits } from "./limits.ts";

const handshake = (protocolVersion = "2025-11-25", capabilities: object = {}) => ({
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } },
});
const call = (id: string | number, args: object, meta: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "demo", arguments: args, _meta: meta },
});

async function openSession(
  limits: Partial<Limits> = {},
  version?: string,
  resources?: HttpOptions["resources"],
) {
  const demo = await serveDemo({ limits, ...(resources && { resources }) });
  const opened = await demo.post(handshake(version));
  const id = opened.headers.get("mcp-session-id") ?? "";
  const session = { "mcp-session-id": id };
  expect(await opened.json()).toMatchObject({ id: "init", result: { serverInfo: { name: "octant" } } });
  const done = await demo.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  expect(done.status).toBe(202);
  const listen = async (more: Record<string, string> = {}) => {
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const response = await fetch(demo.server.url, {
      headers: { ...demo.headers, ...session, ...more },
      signal: controller.signal,
    });
    return {
      response,
      events: response.body?.pipeThrough(new TextDecoderStream()).getReader(),
      stop: () => controller.abort(),
    };
  };
  return { ...demo, session, listen };
}

test("a session answers calls as plain JSON and ends with DELETE", async () => {
  const { post, session, server, headers } = await openSession();
  const response = await post(call(1, { action: "echo", text: "x" }), session);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({
    id: 1,
    result: { structuredContent: { data: { text: "x" } } },
  });
  expect((await fetch(server.url, { method: "DELETE", headers: { ...headers, ...session } })).status).toBe(
    200,
  );
  expect((await post(call(2, { action: "echo", text: "x" }), session)).status).toBe(404);
});

test("an invalid session is reported with the right status", async () => {
  const { post, session, listen, tokens } = await openSession();
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await post(ping)).status).toBe(400);
  expect((await post(ping, { "mcp-session-id": "unknown" })).status).toBe(404);
  expect((await post(ping, { ...session, "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
  expect((await post(handshake(), session)).status).toBe(400);
  expect((await post([ping], session)).status).toBe(400);
  expect((await post(ping, { ...session, accept: "application/json" })).status).toBe(406);
  expect((await listen({ accept: "application/json" })).response.status).toBe(406);
  const other = tokens.create({ scopes: ["admin"] });
  expect((await post(ping, { ...session, authorization: `Bearer ${other.token}` })).status).toBe(404);
  expect((await post(ping, session)).status).toBe(200);
});

test("a refused handshake opens no session", async () => {
  const { post } = await serveDemo();
  const refused = await post({ ...handshake(), params: { protocolVersion: 5 } });
  expect(await refused.json()).toMatchObject({ id: "init", error: {} });
  const again = { "mcp-session-id": refused.headers.get("mcp-session-id") ?? "none" };
  expect((await post({ jsonrpc: "2.0", id: 1, method: "ping" }, again)).status).toBe(404);
});

test("a broken stream is resumed where it stopped, and the answer arrives on it", async () => {
  const { post, session, listen, waiting } = await openSession();
  const controller = new AbortController();
  const response = await post(
    call("w", { action: "wait" }, { progressToken: 1 }),
    session,
    controller.signal,
  );
  const events = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes("notifications/progress")) seen += (await events.read()).value ?? "";
  expect(seen).toMatch(/^id: 2-1\nretry: 500\ndata: \n\n/);
  controller.abort();
  await waiting.started;
  const resumed = await listen({ "last-event-id": "2-1" });
  expect((await resumed.events?.read())?.value).toContain("notifications/progress");
  await post(call("g", { action: "go" }), session);
  const answer = (await resumed.events?.read())?.value;
  expect(answer).toContain('"id":"w"');
  const [, last = ""] = /id: (\S+)/.exec(answer ?? "") ?? [];
  expect((await resumed.events?.read())?.done).toBe(true);
  const late = await listen({ "last-event-id": "2-1" });
  expect(await late.response.status).toBe(200);
  expect((await late.events?.read())?.value).toContain("notifications/progress");
  expect(last).toBe("2-3");
  expect(waiting.cancelled).toBe(0);
});

test("an unknown event id cannot be resumed from", async () => {
  const { listen } = await openSession();
  for (const id of ["1-99", "x", "../etc", "99999999999999999999-1"])
    expect((await listen({ "last-event-id": id })).response.status).toBe(400);
});

test("a slow answer becomes a stream, with heartbeats and a cut to resume from", async () => {
  const { post, session, listen } = await openSession({ streamAfterMs: 5, keepAliveMs: 10, maxStreamMs: 60 });
  const response = await post(call("w", { action: "wait" }), session);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = await response.text();
  expect(text).toContain(": keepalive\n\n");
  expect(text).toMatch(/id: 2-1\n/);
  const resumed = await listen({ "last-event-id": "2-1" });
  await post(call("g", { action: "go" }), session);
  let seen = "";
  while (!seen.includes('"id":"w"')) seen += (await resumed.events?.read())?.value ?? "";
});

test("clients of older revisions get no event without data", async () => {
  const { post, session, waiting } = await openSession({}, "2025-06-18");
  const answer = post(call("w", { action: "wait" }, { progressToken: 1 }), session);
  await waiting.started;
  await post(call("g", { action: "go" }), session);
  expect(await (await answer).text()).not.toContain("retry:");
});

test("changes of the list are reported on the session's single stream", async () => {
  const { post, session, listen } = await openSession();
  const { events } = await listen();
  expect((await listen()).response.status).toBe(409);
  await post(call(1, { action: "grow" }), session);
  expect((await events?.read())?.value).toContain("notifications/tools/list_changed");
});

test("changes before a client listens are reported when it does, once", async () => {
  let change = () => {};
  const { post, session, listen } = await openSession({}, undefined, {
    list: async () => ({ resources: [] }),
    templates: [],
    read: async () => undefined,
    subscribe: async (_uri, onChange) => {
      change = onChange;
      return () => {};
    },
  });
  const subscribe = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "demo:a" } };
  expect(await (await post(subscribe, session)).json()).toMatchObject({ id: 1, result: {} });
  for (let count = 0; count < 1_000; count++) change();
  const { events } = await listen();
  expect((await events?.read())?.value).toContain('"params":{"uri":"demo:a"}');
  await post(call(2, { action: "grow" }), session);
  expect((await events?.read())?.value).toContain("notifications/tools/list_changed");
});

test("a notification cancels a call; a broken connection does not", async () => {
  const { post, session, waiting } = await openSession();
  const controller = new AbortController();
  const answer = post(call("w", { action: "wait" }), session, controller.signal).catch(() => "gone");
  await waiting.started;
  controller.abort();
  await answer;
  await post({ jsonrpc: "2.0", id: 2, method: "ping" }, session);
  expect(waiting.cancelled).toBe(0);
  await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "w" } }, session);
  await expect.poll(() => waiting.cancelled).toBe(1);
});

test("the number of sessions is limited", async () => {
  const { post } = await openSession({ maxSessions: 1 });
  expect((await post(handshake())).status).toBe(503);
});
