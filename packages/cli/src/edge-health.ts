import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { TokenInfo } from "@octant/http";
import type { Check } from "./health.ts";
import type { Octant, OwnTool } from "./octant.ts";

const MAX_ANSWER_MS = 5_000;
const TOKEN_LIFE_MS = 60_000;

/** Connects to each edge as a client would, and checks the prerequisites of HTTP clients. */
export async function checkEdges(octant: Octant<OwnTool>, env: NodeJS.ProcessEnv): Promise<Check[]> {
  return [
    await checkStdio(octant),
    ...(await checkNetwork(octant, env["OCTANT_PORT"])),
    checkTokens(octant.tokens().list()),
  ];
}

function checkStdio(octant: Octant<OwnTool>): Promise<Check> {
  return attempt("edge: stdio", async (signal) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const server = octant.serveStdio({ input, output });
    try {
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`);
      const [line] = await once(createInterface({ input: output }), "line", { signal });
      const { result } = JSON.parse(line);
      return `octant serve lists ${result.tools.length} tools`;
    } finally {
      await server.close();
    }
  });
}

/** On the loopback address only, whatever address will be served later, and with a temporary token. */
async function checkNetwork(octant: Octant<OwnTool>, wanted: string | undefined): Promise<Check[]> {
  const port = Number(wanted || 0);
  const server = await octant.serveHttp({ port, sse: true }).catch((cause: unknown) => toReason(cause));
  if (typeof server === "string")
    return [{ name: "edge: http", status: "warn", detail: busy(wanted, server) }];
  const tokens = octant.tokens();
  const expires = new Date(Date.now() + TOKEN_LIFE_MS);
  const { id, token } = tokens.create({ scopes: ["admin:ro"], name: "octant doctor", expires });
  const authorization = `Bearer ${token}`;
  const at = (path: string) => new URL(path, server.url);
  try {
    return [
      await attempt("edge: http", async (signal) => {
        const headers = { authorization, ...HANDSHAKE_HEADERS };
        const { status } = await fetch(server.url, { method: "POST", headers, body: HANDSHAKE, signal });
        if (status !== 200) throw new Error(`the handshake was answered with ${status}`);
        const where = wanted ? `port ${port}, which is free` : "a free port or the one you give";
        return `octant serve --http answers on 127.0.0.1, on ${where}`;
      }),
      await attempt("edge: websocket", async (signal) => {
        const request = get(at("/ws"), { headers: { authorization, ...UPGRADE_HEADERS }, signal });
        const [, socket] = await once(request, "upgrade", { signal });
        socket.destroy();
        return "octant serve --http answers at /ws";
      }),
      await attempt("edge: sse", async (signal) => {
        const request = get(at("/sse"), { headers: { authorization }, signal });
        const [response] = (await once(request, "response", { signal })) as [IncomingMessage];
        response.destroy();
        if (response.statusCode !== 200) throw new Error(`it was answered with ${response.statusCode}`);
        return "octant serve --http --sse answers at /sse; for clients of 2024-11-05 only";
      }),
    ];
  } finally {
    tokens.revoke(id);
    await server.close();
  }
}

const HANDSHAKE_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const HANDSHAKE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "octant-doctor", version: "1" },
  },
});

const UPGRADE_HEADERS = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "b2N0YW50LWRvY3Rvci0uLg==",
  "sec-websocket-protocol": "mcp",
};

async function attempt(name: string, work: (signal: AbortSignal) => Promise<string>): Promise<Check> {
  try {
    return { name, status: "ok", detail: await work(AbortSignal.timeout(MAX_ANSWER_MS)) };
  } catch (cause) {
    return { name, status: "fail", detail: `it does not answer: ${toReason(cause)}` };
  }
}

const toReason = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));

const busy = (wanted: string | undefined, reason: string) =>
  wanted
    ? `port ${wanted} (OCTANT_PORT) is not available (${reason}); stop the program that uses it, or unset OCTANT_PORT to pick a free port`
    : `this machine does not allow listening on 127.0.0.1 (${reason}); use stdio`;

function checkTokens(all: readonly TokenInfo[]): Check {
  const isOver = ({ expires }: TokenInfo) => expires !== undefined && Date.parse(expires) < Date.now();
  const good = all.filter((one) => !isOver(one));
  const over = all.filter(isOver);
  const has =
    good.length > 0 ? `${good.length} good (${good.map(describe).join("; ")})` : "none that is good";
  const next =
    over.length > 0 ? `; expired: ${over.map(({ id }) => id).join(", ")}, octant token revoke ID` : "";
  return { name: "tokens", status: "ok", detail: `${has}; octant token create makes one${next}` };
}

const describe = ({ id, name, scopes, expires }: TokenInfo) =>
  [id, name && `'${name}'`, scopes.join(" "), expires && `until ${expires}`].filter(Boolean).join(" ");
