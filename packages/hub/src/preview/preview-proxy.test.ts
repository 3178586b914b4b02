import { once } from "node:events";
import { createServer as createHttp, request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createPreviewProxy } from "./preview-proxy.ts";

/** A hub whose preview leads to a server that answers with these bytes. */
async function serve(bytes: string): Promise<number> {
  const container = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(bytes, "latin1"));
  }).listen(0, "127.0.0.1");
  await once(container, "listening");
  const { port } = container.address() as AddressInfo;
  const proxy = createPreviewProxy({ connect: async () => connect(port, "127.0.0.1") });
  const asked = { target: { project_id: "project_0", port }, keepsAuthorization: false };
  const hub = createHttp((incoming, response) => proxy.handle(incoming, response, asked)).listen(
    0,
    "127.0.0.1",
  );
  hub.on("upgrade", (incoming, socket, head) => proxy.upgrade(incoming, socket, head, asked));
  await once(hub, "listening");
  onTestFinished(() => {
    proxy.close();
    container.close();
    hub.close();
  });
  return (hub.address() as AddressInfo).port;
}

async function ask(port: number, headers: Record<string, string> = {}) {
  const sent = request({ port, host: "127.0.0.1", agent: false, headers }).end();
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, body: await text(answer) };
}

test.each([
  "HTTP/1.1 000 Nothing\r\n\r\n",
  "HTTP/1.1 042 Early\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
  "HTTP/1.1 200 OK\r\na\0b: 1\r\n\r\n",
  "nonsense\r\n\r\n",
  "",
])("a server in a container cannot stop the hub: %j", async (bytes) => {
  const port = await serve(bytes);
  expect(await ask(port)).toMatchObject({ status: 502, body: expect.stringContaining("does not answer") });
  if (bytes.includes(" 101 ")) return;
  const upgrade = { connection: "upgrade", upgrade: "websocket" };
  expect((await ask(port, upgrade)).status).toBeGreaterThanOrEqual(200);
});
