import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { WebSocket } from "ws";
import type { FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

export const ISSUER = "https://iam.example";
export const AUDIENCE = "octant";
export const ORIGIN = "https://app.example";
export const PROTOCOL = "octant.bridge.v1";

/** An issuer of tokens with its key set on loopback. */
export interface TestIssuer extends AsyncDisposable {
  readonly jwks: string;
  sign(claims?: JWTPayload & { readonly owner?: unknown }, options?: SignOptions): Promise<string>;
}

export interface SignOptions {
  readonly alg?: "RS256" | "ES256" | "ES384";
  readonly kid?: string;
  /** Signs with a key that is not in the set. */
  readonly strange?: boolean;
}

export async function createTestIssuer(): Promise<TestIssuer> {
  const [rsa, ec, ec384, strange] = await Promise.all([
    generateKeyPair("RS256", { extractable: true }),
    generateKeyPair("ES256", { extractable: true }),
    generateKeyPair("ES384", { extractable: true }),
    generateKeyPair("ES256", { extractable: true }),
  ]);
  const toKey = async (key: CryptoKey, alg: string) => ({
    ...(await exportJWK(key)),
    alg,
    kid: alg,
    use: "sig",
  });
  const keys = await Promise.all([
    toKey(rsa.publicKey, "RS256"),
    toKey(ec.publicKey, "ES256"),
    toKey(ec384.publicKey, "ES384"),
  ]);
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys })),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const privateKeys = { RS256: rsa.privateKey, ES256: ec.privateKey, ES384: ec384.privateKey };
  return {
    // It listens on a port.
    jwks: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    sign(claims = {}, { alg = "ES256", kid = alg, strange: isStrange = false } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const whole = { iss: ISSUER, aud: AUDIENCE, sub: "ann", owner: "acme", exp: now + 600, ...claims };
      return new SignJWT(whole)
        .setProtectedHeader({ alg, kid })
        .sign(isStrange ? strange.privateKey : privateKeys[alg]);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export interface RunningBridge extends AsyncDisposable {
  readonly url: string;
  readonly stderr: () => string;
}

/** The real command. */
export async function startBridge(
  project: FixtureProject,
  issuer: TestIssuer,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<RunningBridge> {
  const token = ["--jwks", issuer.jwks, "--issuer", ISSUER, "--audience", AUDIENCE];
  const child = startOctant(
    ["bridge", ...token, "--allow-origin", ORIGIN, "--port", "0", "--json", ...args],
    {
      cwd: project.root,
      env: { ...project.env, ...env },
    },
  );
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const exited = once(child, "exit");
  const line = await Promise.race([
    once(createInterface(child.stdout), "line").then(([first]) => String(first)),
    exited.then(() => {
      throw new Error(`octant bridge ended: ${stderr}`);
    }),
  ]);
  return {
    url: JSON.parse(line).url,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export interface BridgeClient extends Disposable {
  readonly ws: WebSocket;
  readonly stream: string;
  readonly frames: Record<string, unknown>[];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  send(message: unknown): void;
  /** The first matching frame, past or future. */
  wait(fits: (frame: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  request(method: string, params?: unknown): Promise<Record<string, unknown>>;
}

export interface ConnectOptions {
  readonly path?: string;
  readonly origin?: string | null;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers requests from the server with this result. */
  readonly answer?: (method: string, params: unknown) => unknown;
}

/** Rejects with the HTTP status when the handshake is refused. */
export async function connect(
  url: string,
  token: string,
  options: ConnectOptions = {},
): Promise<BridgeClient> {
  const { path = "/mcp", origin = ORIGIN, protocols = [PROTOCOL, `bearer.${token}`] } = options;
  const ws = new WebSocket(`${url}${path}`, [...protocols], {
    ...(origin !== null && { origin }),
    headers: options.headers ?? {},
  });
  const frames: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const closed = new Promise<number>((resolve) => ws.once("close", resolve));
  const ready = Promise.withResolvers<string>();
  ws.on("message", (data) => {
    const frame = JSON.parse(String(data));
    if (frame.method === "bridge/ready") return ready.resolve(frame.params.stream);
    frames.push(frame);
    if (frame.method !== undefined && frame.id !== undefined && options.answer)
      ws.send(
        JSON.stringify({ jsonrpc: "2.0", id: frame.id, result: options.answer(frame.method, frame.params) }),
      );
    for (const look of waiting) look();
  });
  ws.once("unexpected-response", (_request, response) => {
    ready.reject(new Error(`HTTP ${response.statusCode}`));
    response.resume();
    ws.terminate();
  });
  ws.on("error", ready.reject);
  void closed.then((code) => ready.reject(new Error(`closed ${code}`)));
  const stream = await ready.promise;
  let id = 0;
  const wait = (fits: (frame: Record<string, unknown>) => boolean) =>
    new Promise<Record<string, unknown>>((resolve) => {
      const look = () => {
        const found = frames.find(fits);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const send = (message: unknown) => ws.send(typeof message === "string" ? message : JSON.stringify(message));
  return {
    ws,
    stream,
    frames,
    closed,
    send,
    wait,
    request(method, params) {
      id += 1;
      const mine = `${stream.slice(-6)}.${id}`;
      send({ jsonrpc: "2.0", id: mine, method, params });
      return wait((frame) => frame["id"] === mine && frame["method"] === undefined);
    },
    [Symbol.dispose]: () => ws.terminate(),
  };
}

/** The handshake of MCP. */
export async function initialize(client: BridgeClient): Promise<void> {
  const clientInfo = { name: "page", version: "1" };
  await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
}

export const callTool = (client: BridgeClient, name: string, input: object) =>
  client.request("tools/call", { name, arguments: input });
