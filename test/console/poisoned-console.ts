import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createMessageReader } from "../../packages/console/page/data/message-reader.ts";
import { createPoison } from "./hostile-strings.ts";

export type PoisonedConsole = Awaited<ReturnType<typeof createPoisonedConsole>>;

/** Passes everything on to a console, and puts hostile strings into every text of its answers and events. */
export async function createPoisonedConsole(origin: string) {
  const poison = createPoison();
  let events = 0;
  const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { url = "/", method = "GET", headers } = incoming;
    const { host } = new URL(origin);
    const sent = request(new URL(url, origin), {
      method,
      headers: {
        ...headers,
        host,
        "accept-encoding": "identity",
        ...(headers.origin !== undefined && { origin }),
      },
    });
    incoming.pipe(sent);
    response.once("close", () => sent.destroy());
    const [answer] = await once(sent, "response");
    const { "content-length": _length, ...kept } = answer.headers;
    response.writeHead(answer.statusCode, kept);
    if (url.startsWith("/console/api/events")) {
      const read = createMessageReader();
      answer.setEncoding("utf8").on("data", (piece: string) => {
        for (const { data, id } of read(piece)) {
          const batch = JSON.parse(data);
          events += batch.events.length;
          response.write(`id: ${id}\ndata: ${JSON.stringify(poison.of(batch, "event."))}\n\n`);
        }
      });
      answer.once("close", () => response.end());
    } else if (/^\/console\/api\/(?:processes|call)$/.test(url) && answer.statusCode === 200) {
      response.end(JSON.stringify(poison.of(JSON.parse(await text(answer)))));
    } else answer.pipe(response);
  };
  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    poison,
    /** How many events have passed. */
    events: () => events,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
