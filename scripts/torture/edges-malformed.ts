import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { broken, flipped, MAX_GROWN_BYTES, MAX_NEXT_CALL_MS, WARM_UP_SHARE } from "./edges-broken.ts";
import { createPoster, headersOf, readMessage, textOf } from "./edges-calls.ts";
import { type EdgesServer, markedFile, startEdgesServer } from "./edges-server.ts";
import type { Report, Torture } from "./report.ts";

const IN_FLIGHT = 16;
/** A frame that announces more is abandoned after this. */
const MAX_WAIT_MS = 200;

/** `count` broken frames for each edge: it must answer or close, survive, and not grow. */
export const edgesMalformed: Torture = (count, random, onProgress) => malformed(count, random, onProgress);

export async function malformed(
  count: number,
  random: () => number,
  onProgress: (done: number) => void = () => {},
): Promise<Report> {
  await using server = await startEdgesServer();
  const violations: string[] = [];
  const facts: string[] = [];
  await using stream = await openStream(server);
  const edges: Readonly<Record<string, Send>> = {
    HTTP: postTo("/mcp"),
    SSE: postTo(stream.path),
    WebSocket: sendFrame,
  };
  for (const [name, send] of Object.entries(edges)) {
    await sendMany(Math.ceil(count * WARM_UP_SHARE), () => send(server, random));
    const before = server.residentBytes();
    await sendMany(count, () => send(server, random), onProgress);
    if (server.child.exitCode !== null)
      return { what: WHAT, facts: name, violations: [`the server ended: ${server.errors()}`] };
    const grown = server.residentBytes() - before;
    const ms = await timeCall(server);
    facts.push(
      `${name}: ${count} frames, RSS ${grown < 0 ? "" : "+"}${(grown / 1e6).toFixed(1)} MB, next call ${ms.toFixed(0)} ms`,
    );
    if (grown > MAX_GROWN_BYTES) violations.push(`${name}: grew by ${grown} bytes`);
    if (ms > MAX_NEXT_CALL_MS) violations.push(`${name}: the next call took ${ms} ms`);
  }
  if (/unhandled|uncaught/i.test(server.errors())) violations.push(server.errors());
  return { what: WHAT, facts: facts.join("; "), violations };
}

const WHAT = "broken frames at the edges";

async function sendMany(
  count: number,
  send: () => Promise<void>,
  onProgress: (done: number) => void = () => {},
) {
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      await send();
      onProgress(count - Math.max(left, 0));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
}

async function timeCall(server: EdgesServer): Promise<number> {
  const poster = createPoster(server);
  const { uri, text } = markedFile(1);
  const start = performance.now();
  const answer = await poster.post(JSON.stringify(readMessage(1, uri)), headersOf(server.token));
  const ms = performance.now() - start;
  poster.close();
  if (textOf(answer.body) !== text) throw new Error(`another answer: ${answer.body}`);
  return ms;
}

const bytes = (text: string) => Buffer.from(text);

const postHead = ({ port, token }: EdgesServer, path: string, length: number | string): string =>
  [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    ...Object.entries(headersOf(token)).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${length}`,
    "connection: close",
    "\r\n",
  ].join("\r\n");

type Send = (server: EdgesServer, random: () => number) => Promise<void>;

const postTo =
  (path: string): Send =>
  async (server, random) => {
    const body = broken(random);
    // One in ten has a wrong length, or is not HTTP.
    const lie = random();
    if (lie < 0.03) return exchange(server, [bytes(postHead(server, path, body.length + 1)), body]);
    if (lie < 0.06) return exchange(server, [bytes(postHead(server, path, "999999999999")), body]);
    if (lie < 0.1)
      return exchange(server, [flipped(bytes(postHead(server, path, body.length)), random), body]);
    return exchange(server, [bytes(postHead(server, path, body.length)), body]);
  };

const sendFrame: Send = async (server, random) => {
  const handshake = [
    "GET /ws HTTP/1.1",
    `host: 127.0.0.1:${server.port}`,
    `authorization: Bearer ${server.token}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol: mcp",
    "\r\n",
  ].join("\r\n");
  const frame = toFrame(broken(random));
  const lie = random();
  const sent =
    lie < 0.3
      ? flipped(frame, random)
      : lie < 0.4
        ? frame.subarray(0, Math.floor(random() * frame.length))
        : frame;
  await exchange(server, [bytes(handshake), sent, CLOSE_FRAME]);
};

const MASKED = 0x80;
const TEXT = 0x81;
const CLOSE_FRAME = Buffer.from([0x88, MASKED, 0, 0, 0, 0]);

/** A client's text frame, with a mask of zeros. */
function toFrame(payload: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head[0] = TEXT;
  head[1] = MASKED | 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** The stream that posts of the older transport need; its events are discarded. */
async function openStream({ url, token }: EdgesServer): Promise<AsyncDisposable & { readonly path: string }> {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL("/sse", url), { headers, signal: controller.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  const [, path = ""] = /data: (\S+)/.exec(first?.value ?? "") ?? [];
  const drained = (async () => {
    while (!(await reader?.read())?.done);
  })().catch(() => {});
  return {
    path,
    async [Symbol.asyncDispose]() {
      controller.abort();
      await drained;
    },
  };
}

/** Sends the parts and waits until the connection ends, or for a limited time. */
async function exchange({ port }: EdgesServer, parts: readonly Buffer[]): Promise<void> {
  const socket: Socket = connect(port, "127.0.0.1");
  // A reset is an answer, too.
  socket.on("error", () => {});
  socket.resume();
  for (const part of parts) socket.write(part);
  const timer = setTimeout(() => socket.destroy(), MAX_WAIT_MS);
  await once(socket, "close").catch(() => {});
  clearTimeout(timer);
}
