import { expect, onTestFinished, test } from "vitest";
import { serveDemo } from "../../testing/http.ts";

async function openStream(sse = true) {
  const demo = await serveDemo({ sse });
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(new URL("/sse", demo.server.url), {
    headers: demo.headers,
    signal: controller.signal,
  });
  const events = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await events?.read())?.value ?? "";
  return { ...demo, response, next, stop: () => controller.abort() };
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

test("messages go to the address that the stream announces, and answers come on the stream", async () => {
  const { next, server, headers } = await openStream();
  const first = await next();
  const [, path = ""] = /^event: endpoint\ndata: (\/messages\?sessionId=\S+)\n\n$/.exec(first) ?? [];
  const posted = await fetch(new URL(path, server.url), { method: "POST", headers, body: ping });
  expect(posted.status).toBe(202);
  expect(await next()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
});

test("a client cannot post to a stream of another token, or to a closed one", async () => {
  const { next, server, headers, tokens, stop } = await openStream();
  const [, path = ""] = /data: (\S+)/.exec(await next()) ?? [];
  const post = (token?: string) =>
    fetch(new URL(path, server.url), {
      method: "POST",
      headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
      body: ping,
    });
  expect((await post(tokens.create({ scopes: ["admin"] }).token)).status).toBe(404);
  expect((await post()).status).toBe(202);
  stop();
  await expect.poll(async () => (await post()).status).toBe(404);
});

test("it is not served unless enabled", async () => {
  expect((await openStream(false)).response.status).toBe(404);
});
