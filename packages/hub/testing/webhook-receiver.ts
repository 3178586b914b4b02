import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly event: { readonly type: string; readonly timestamp: string; readonly data: object };
  /** Whether this secret signed the request. */
  isSignedBy(secret: string): boolean;
  answer(status: number, headers?: Record<string, string>): void;
}

/** A receiver on this machine that throws for a request that is not exactly a webhook. It answers only when told to. */
export async function openReceiver() {
  const waiting: ((request: Received) => void)[] = [];
  const arrived: Received[] = [];
  const all: Received[] = [];
  const server = createServer((request, response) => {
    void read(request, response).then((received) => {
      all.push(received);
      const taker = waiting.shift();
      if (taker) taker(received);
      else arrived.push(received);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return {
    port: address.port,
    host: `127.0.0.1:${address.port}`,
    url: `http://127.0.0.1:${address.port}/hook?key=1`,
    /** Every request so far. */
    all,
    /** The next request that nobody took. */
    next: (): Promise<Received> =>
      new Promise((resolve) => {
        const first = arrived.shift();
        if (first) resolve(first);
        else waiting.push(resolve);
      }),
  };
}

async function read(request: IncomingMessage, response: ServerResponse): Promise<Received> {
  const body = await text(request);
  const header = (name: string): string => {
    const value = request.headers[name];
    if (typeof value !== "string") throw new Error(`the request has no header ${name}`);
    return value;
  };
  if (request.method !== "POST" || header("content-type") !== "application/json")
    throw new Error(`not a webhook: ${request.method} ${request.headers["content-type"]}`);
  const [id, stamp, signature] = [
    header("webhook-id"),
    header("webhook-timestamp"),
    header("webhook-signature"),
  ];
  if (!/^v1,[A-Za-z0-9+/]{43}=$/.test(signature) || !/^\d{10}$/.test(stamp))
    throw new Error(`not signed: ${signature} at ${stamp}`);
  return {
    ...{ path: request.url ?? "", id, timestamp: Number(stamp), body, event: JSON.parse(body) },
    isSignedBy(secret) {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      const wanted = createHmac("sha256", key).update(`${id}.${stamp}.${body}`).digest();
      return timingSafeEqual(wanted, Buffer.from(signature.slice("v1,".length), "base64"));
    },
    answer: (status, headers = {}) => void response.writeHead(status, headers).end(),
  };
}
