import { expect, test } from "vitest";
import { createDemoFeatures } from "../../testing/features.ts";
import { modernRequest, serveDemo } from "../../testing/http.ts";

async function openListens() {
  const { post, server } = await serveDemo(createDemoFeatures());
  const listen = (notifications: unknown, more: Record<string, string> = {}) => {
    const { body, headers } = modernRequest("s", "subscriptions/listen", { notifications });
    return post(body, { ...headers, ...more });
  };
  return { listen, server };
}

test("a stream ends normally when the server closes", async () => {
  const { listen, server } = await openListens();
  const response = await listen({ toolsListChanged: true, resourceSubscriptions: ["demo:a", "demo:absent"] });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await events.read()).value).toContain(
    '"notifications":{"toolsListChanged":true,"resourceSubscriptions":["demo:a"]}',
  );
  void server.close();
  expect((await events.read()).value).toMatch(/"id":"s","result":\{.*"resultType":"complete"/);
  expect((await events.read()).done).toBe(true);
});

test("a stream with nothing to report ends at once", async () => {
  const { listen } = await openListens();
  for (const filter of [{}, { resourceSubscriptions: ["demo:absent"] }, { resourcesListChanged: true }]) {
    const text = await (await listen(filter)).text();
    expect(text).toMatch(/"notifications":\{\}.*"resultType":"complete"/s);
  }
});

test("an invalid or oversized filter is refused, and so is a client that accepts no stream", async () => {
  const { listen } = await openListens();
  const refused = await (await listen({ toolsListChanged: "yes" })).json();
  expect(refused).toMatchObject({ id: "s", error: { code: -32602 } });
  const uris = Array.from({ length: 1_001 }, (_, n) => `demo:${n}`);
  expect(await (await listen({ resourceSubscriptions: uris })).json()).toMatchObject({
    error: { code: -32602, data: { code: "LIMIT_EXCEEDED", details: { limit: 1_000, actual: 1_001 } } },
  });
  expect((await listen({ toolsListChanged: true }, { accept: "application/json" })).status).toBe(406);
});
