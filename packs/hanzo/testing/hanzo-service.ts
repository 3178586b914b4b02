import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";

/** A request that the service expects, exactly, and its answer. */
export interface Exchange {
  readonly request: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;
  readonly body?: unknown;
  readonly status?: number;
  readonly answer?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const HEADERS = new Set([
  "host",
  "connection",
  "accept",
  "accept-language",
  "accept-encoding",
  "authorization",
  "content-type",
  "content-length",
  "sec-fetch-mode",
  "user-agent",
  // Of the proxy between a pack and the world.
  "proxy-connection",
  "transfer-encoding",
]);

/**
 * The Hanzo API for tests. It takes the expected requests in their order, each with one of the accepted tokens, and
 * refuses everything else; `unexpected` says what that was.
 */
export async function openHanzoService(exchanges: readonly Exchange[], accepted: readonly string[] = []) {
  const waiting = [...exchanges];
  const unexpected: string[] = [];
  const tokens: string[] = [];
  const take = async (request: IncomingMessage): Promise<Omit<Exchange, "request">> => {
    const line = `${request.method} ${request.url}`;
    const refuse = (why: string) => {
      unexpected.push(`${line}: ${why}`);
      return { status: 500, answer: { error: why } };
    };
    const text = Buffer.concat(await Array.fromAsync(request)).toString("utf8");
    const strange = Object.keys(request.headers).filter((name) => !HEADERS.has(name));
    if (strange.length > 0) return refuse(`unexpected headers ${strange.join(", ")}`);
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return refuse("no token");
    tokens.push(token);
    if (!accepted.includes(token)) return { status: 401, answer: { error: `bad token ${token}` } };
    const [next] = waiting;
    if (next?.request !== line) return refuse(`expected ${next?.request ?? "nothing more"}`);
    const isJson = request.headers["content-type"] === "application/json";
    const body = text === "" ? undefined : isJson ? JSON.parse(text) : text;
    if (!isDeepStrictEqual(body, next.body)) return refuse(`unexpected body ${text}`);
    waiting.shift();
    return next;
  };
  const server = createServer((request, response) => {
    void take(request).then(({ status = 200, answer, headers }) => {
      response.writeHead(status, {
        ...(answer !== undefined && { "content-type": "application/json" }),
        ...headers,
      });
      response.end(answer === undefined ? undefined : JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    base_url: `http://127.0.0.1:${port}/v1`,
    port,
    waiting,
    unexpected,
    tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const NO_DESCRIPTION: Exchange = {
  request: "GET /v1/openapi.json",
  status: 404,
  answer: { error: "none" },
};
