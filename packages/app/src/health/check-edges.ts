import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { TokenInfo } from "@octant/http";
import type { Octant, OwnTool } from "../octant.ts";
import { connectTo } from "../setup/ask-server.ts";
import type { Check } from "./check-workspace.ts";

const MAX_ANSWER_MS = 15_000;
const TOKEN_LIFE_MS = 60_000;

/** Connects to each edge as a client would, and checks the prerequisites of HTTP clients. */
export async function checkEdges(octant: Octant<OwnTool>, env: NodeJS.ProcessEnv): Promise<Check[]> {
  return [
    await checkStdio(octant),
    ...(await checkNetwork(octant, env["OCTANT_PORT"])),
    checkTokens(octant.tokens().list()),
  ];
}

async function checkStdio(octant: Octant<OwnTool>): Promise<Check> {
  const name = "edge: stdio";
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = octant.serveStdio({ input, output });
  try {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`);
    const signal = AbortSignal.timeout(MAX_ANSWER_MS);
    const [line] = await once(createInterface({ input: output }), "line", { signal });
    const { result } = JSON.parse(line);
    return { name, status: "ok", detail: `octant serve lists ${result.tools.length} tools` };
  } catch (cause) {
    return { name, status: "fail", detail: `it does not answer: ${toReason(cause)}` };
  } finally {
    await server.close();
  }
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
  const at = (path: string, scheme = "http") => ({
    url: new URL(path, server.url.replace("http", scheme)).href,
    headers: { authorization: `Bearer ${token}` },
  });
  const details: Readonly<Record<string, string>> = {
    http: `octant serve --http answers on 127.0.0.1, on ${wanted ? `port ${port}, which is free` : "a free port or the one you give"}`,
    websocket: "octant serve --http answers at /ws",
    sse: "octant serve --http --sse answers at /sse; for clients of 2024-11-05 only",
  };
  try {
    await using servers = connectTo({
      servers: { http: at("/mcp"), websocket: at("/ws", "ws"), sse: at("/sse") },
      start: () => Promise.reject(new Error("these servers have addresses")),
      connectMs: MAX_ANSWER_MS,
    });
    await servers.settled();
    return servers.status().map(({ server: edge, reason }) => ({
      name: `edge: ${edge}`,
      ...(reason === undefined
        ? { status: "ok", detail: details[edge] ?? "" }
        : { status: "fail", detail: `it does not answer: ${reason}` }),
    }));
  } finally {
    tokens.revoke(id);
    await server.close();
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
    good.length > 0 ? `${good.length} good (${good.map(describe).join("; ")})` : "none that is valid";
  const next =
    over.length > 0 ? `; expired: ${over.map(({ id }) => id).join(", ")}, octant token revoke ID` : "";
  return { name: "tokens", status: "ok", detail: `${has}; octant token create makes one${next}` };
}

const describe = ({ id, name, scopes, expires }: TokenInfo) =>
  [id, name && `'${name}'`, scopes.join(" "), expires && `until ${expires}`].filter(Boolean).join(" ");
