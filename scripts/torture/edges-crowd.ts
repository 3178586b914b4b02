import { once } from "node:events";
import { WebSocket } from "ws";
import { createPoster, headersOf, readMessage, textOf } from "./edges-calls.ts";
import { type EdgesServer, markedFile, startEdgesServer } from "./edges-server.ts";
import type { Report, Torture } from "./report.ts";

const CALLS_EACH = 100;
const MAX_RESIDENT_BYTES = 512 * 1024 * 1024;
const P99_MS = 250;

/** `count` HTTP clients in either era and as many WebSocket clients, all at once: each must get its own answers. */
export const edgesCrowd: Torture = (count, _random, onProgress) => crowd(count, CALLS_EACH, onProgress);

export async function crowd(
  clients: number,
  calls: number,
  onProgress: (done: number) => void = () => {},
): Promise<Report> {
  await using server = await startEdgesServer();
  const violations: string[] = [];
  const times: number[] = [];
  let answered = 0;
  const check = async (n: number, read: (uri: string) => Promise<string>) => {
    const { uri, text } = markedFile(n);
    const start = performance.now();
    try {
      const got = await read(uri);
      if (got !== text) violations.push(`asked for ${uri}, got ${JSON.stringify(got)}`);
    } catch (cause) {
      violations.push(`${uri}: ${cause}`);
    }
    times.push(performance.now() - start);
    if (++answered % calls === 0) onProgress(Math.floor(answered / calls / KINDS.length));
  };
  const start = performance.now();
  const work = async (open: Open, n: number) => {
    await using client = await open(server);
    // All clients use the same ids, so that ids cannot reveal a mixed-up answer.
    for (let call = 0; call < calls; call++) await check(n + call, (uri) => client.read(call, uri));
  };
  await Promise.all(
    KINDS.flatMap((open) =>
      Array.from({ length: clients }, (_, n) =>
        work(open, n).catch((cause) => violations.push(String(cause))),
      ),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  const resident = server.residentBytes();
  if (resident > MAX_RESIDENT_BYTES) violations.push(`the server has ${toMegabytes(resident)} MB`);
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  const facts = `${times.length} calls by ${clients * KINDS.length} clients, ${Math.round(times.length / seconds)}/s, p99 ${p99.toFixed(0)} ms (goal ${P99_MS}), RSS ${toMegabytes(resident)} MB`;
  return { what: "a crowd at the edges", facts, violations: violations.slice(0, 20) };
}

interface Client extends AsyncDisposable {
  read(id: number, uri: string): Promise<string>;
}

type Open = (server: EdgesServer) => Promise<Client>;

const openModern: Open = async (server) => {
  const poster = createPoster(server);
  const headers = headersOf(server.token);
  return {
    read: async (id, uri) => textOf((await poster.post(JSON.stringify(readMessage(id, uri)), headers)).body),
    [Symbol.asyncDispose]: async () => poster.close(),
  };
};

const openSocket: Open = async ({ url, token }) => {
  const socket = new WebSocket(url.replace("http", "ws").replace("/mcp", "/ws"), "mcp", {
    headers: { authorization: `Bearer ${token}` },
  });
  await once(socket, "open");
  return {
    async read(id, uri) {
      socket.send(JSON.stringify(readMessage(id, uri)));
      const [data] = await once(socket, "message");
      return textOf(String(data));
    },
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
};

const KINDS: readonly Open[] = [openModern, openSocket];

const toMegabytes = (bytes: number) => Math.round(bytes / 1e6);
