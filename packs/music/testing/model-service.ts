import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Handler = (request: Record<string, unknown>, response: ServerResponse) => Promise<void> | void;

/**
 * A model service for tests. As strict as the strictest real one: it takes POST of JSON at known paths with exactly the
 * fields of that path, and music must be music.
 */
export async function openModelService(fields: Readonly<Record<string, readonly string[]>>, handle: Handler) {
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    void take(request, response).catch((cause) => refuse(response, 400, String(cause)));
  });
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "";
    const known = fields[path];
    if (request.method !== "POST" || !known) return refuse(response, 404, `no ${request.method} ${path}`);
    if (request.headers["content-type"] !== "application/json") return refuse(response, 415, "not JSON");
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString("utf8"));
    const unknown = Object.keys(body).filter((key) => !known.includes(key));
    if (unknown.length > 0) return refuse(response, 422, `unknown fields ${unknown.join(", ")}`);
    for (const [name, header] of Object.entries(HEADERS))
      if (name in body && Buffer.from(String(body[name]), "base64").toString("latin1", 0, 4) !== header)
        return refuse(response, 422, `${name} does not begin with ${header}`);
    requests.push({ path, body });
    response.on("close", () => closed.push(path));
    await handle(body, response);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    closed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const HEADERS = { midi: "MThd", section_a: "MThd", section_b: "MThd", audio: "RIFF", other: "RIFF" };

function refuse(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { message } }));
}

export const answer = (response: ServerResponse, result: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
};
