import { WebSocket } from "ws";
import {
  AUDIENCE,
  type BridgeClient,
  callTool,
  connect,
  createTestIssuer,
  ISSUER,
  initialize,
  ORIGIN,
  PROTOCOL,
  startBridge,
  type TestIssuer,
} from "../../test/bridge-client.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import type { Report, Torture } from "./report.ts";

const IN_FLIGHT = 16;
const OWNERS = 20;
const MAX_ANSWER_MS = 5_000;

/** `count` broken tokens and `count` broken frames: none is accepted, and the bridge keeps serving everybody else. */
export const bridgeBroken: Torture = async (count, random, onProgress) => {
  await using issuer = await createTestIssuer();
  using project = createFixtureProject();
  await using bridge = await startBridge(project, issuer);
  const violations: string[] = [];
  using witness = await connect(bridge.url, await issuer.sign({ owner: "witness" }));
  await initialize(witness);
  const good = await issuer.sign();

  await inParallel(count, async () => {
    const token = await brokenToken(issuer, good, random);
    if (await getsIn(bridge.url, token)) violations.push(`a broken token got in: ${token}`);
  });
  let client: BridgeClient | undefined;
  for (let done = 0; done < count; done++) {
    if (!client || client.ws.readyState !== WebSocket.OPEN) {
      client?.[Symbol.dispose]();
      client = await connect(bridge.url, await issuer.sign({ owner: `broken ${done % OWNERS}` }));
    }
    const { data, binary } = brokenFrame(random);
    client.ws.send(data, { binary });
    if (binary) await client.closed;
    onProgress(done + 1);
  }
  client?.[Symbol.dispose]();
  const started = performance.now();
  const answer = JSON.stringify(await callTool(witness, "fs", { action: "read", uri: "README.md" }));
  const ms = performance.now() - started;
  if (!answer.includes("A small project.")) violations.push(`the witness was answered ${answer}`);
  if (ms > MAX_ANSWER_MS) violations.push(`the witness waited ${ms} ms`);
  if (/unhandled|uncaught|TypeError/i.test(bridge.stderr())) violations.push(bridge.stderr());
  return {
    what: "broken tokens and frames at the bridge",
    facts: `${count} tokens, ${count} frames, next call ${ms.toFixed(0)} ms`,
    violations,
  };
};

/** `count` concurrent clients of some owners: each gets its own answers, and nothing of others. */
export const bridgeCrowd: Torture = async (count, _random, onProgress): Promise<Report> => {
  await using issuer = await createTestIssuer();
  using project = createFixtureProject();
  await using bridge = await startBridge(project, issuer);
  const violations: string[] = [];
  const clients: BridgeClient[] = [];
  const procs = new Map<string, string>();
  await inParallel(count, async (at) => {
    const client = await connect(
      bridge.url,
      await issuer.sign({ owner: `owner ${at % OWNERS}`, sub: `sub ${at}` }),
    );
    await initialize(client);
    clients[at] = client;
    onProgress(at + 1);
  });
  const open = clients.filter(({ ws }) => ws.readyState === WebSocket.OPEN).length;
  if (open !== count) violations.push(`${open} of ${count} clients are connected`);
  await inParallel(Math.min(OWNERS, count), async (at) => {
    const client = clients[at];
    if (!client) return;
    const text = JSON.stringify(
      await callTool(client, "proc", { action: "exec", command: `echo secret-${at}-end` }),
    );
    const [proc] = /proc_(?!id)[0-9a-z]+/.exec(text) ?? [];
    if (proc === undefined) violations.push(`owner ${at} got no process: ${text}`);
    else procs.set(String(at), proc);
  });
  await inParallel(count, async (at) => {
    const client = clients[at];
    if (!client) return;
    for (const owner of [at % OWNERS, (at + 1) % OWNERS]) {
      const proc = procs.get(String(owner));
      if (proc === undefined) continue;
      const uri = `stdout:${proc}`;
      const isOwn = owner === at % OWNERS;
      const saw = JSON.stringify(await callTool(client, "fs", { action: "read", uri })).includes(
        `secret-${owner}-end`,
      );
      if (saw !== isOwn)
        violations.push(`client ${at} ${saw ? "read" : "could not read"} ${uri} of owner ${owner}`);
    }
  });
  for (const [at, { frames }] of clients.entries()) {
    const strange = frames.filter(
      ({ id }) => id !== undefined && !String(id).startsWith(clients[at]?.stream.slice(-6) ?? "?"),
    );
    if (strange.length > 0)
      violations.push(`client ${at} got frames of others: ${JSON.stringify(strange[0])}`);
  }
  for (const client of clients) client[Symbol.dispose]();
  return { what: "a crowd at the bridge", facts: `${count} clients of ${OWNERS} owners`, violations };
};

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Whether the handshake succeeds. */
async function getsIn(url: string, token: string): Promise<boolean> {
  try {
    // Some of these cannot even be offered.
    using client = await connect(url, "x", {
      protocols: [PROTOCOL],
      headers: { authorization: `Bearer ${token}` },
      origin: ORIGIN,
    });
    return client.stream !== "";
  } catch {
    return false;
  }
}

function brokenToken(issuer: TestIssuer, good: string, random: () => number): Promise<string> | string {
  const now = Math.floor(Date.now() / 1_000);
  const [header = "", payload = "", signature = ""] = good.split(".");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: "eve", owner: "acme", exp: now + 600 };
  const makers: readonly (() => Promise<string> | string)[] = [
    () => `${encode({ alg: "none" })}.${encode(claims)}.`,
    () => `${encode({ alg: "HS256", kid: "ES256" })}.${encode(claims)}.${signature}`,
    () => `${header}.${encode(claims)}.${signature}`,
    () => `${header}.${payload}.${signature.slice(0, Math.floor(random() * (signature.length - 1)))}`,
    () => issuer.sign({ aud: `other ${random()}` }),
    () => issuer.sign({ exp: now - 60 - Math.floor(random() * 1_000) }),
    () => issuer.sign({ nbf: now + 60 + Math.floor(random() * 1_000) }),
    () => issuer.sign({}, { kid: `kid${random()}` }),
    () => issuer.sign({}, { strange: true }),
    () => issuer.sign({}, { alg: "ES384" }),
    () => issuer.sign({ owner: [undefined, "", 1, {}, "x".repeat(500)][Math.floor(random() * 5)] }),
    () => Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256))).toString("base64url"),
  ];
  return (makers[Math.floor(random() * makers.length)] ?? (() => "x"))();
}

function brokenFrame(random: () => number): { readonly data: string | Buffer; readonly binary: boolean } {
  const whole =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs","arguments":{"action":"read"}}}';
  const at = Math.floor(random() * whole.length);
  const makers: readonly (() => string | Buffer)[] = [
    () => whole.slice(0, at),
    () => `${whole.slice(0, at)}\u0000${whole.slice(at + 1)}`,
    () => "[".repeat(at * 20),
    () => `[${whole}]`,
    () => JSON.stringify({ jsonrpc: "2.0", id: { a: at }, method: at }),
    () => JSON.stringify({ jsonrpc: "2.0", id: at, method: "x".repeat(at * 10), params: [at] }),
    () => JSON.stringify({ jsonrpc: "2.0", id: at, result: null }),
    () => String(random()),
    () => "",
    () => "\u202e\ud83d".toWellFormed().repeat(at),
  ];
  if (random() < 0.01) return { data: Buffer.from(whole), binary: true };
  return { data: (makers[Math.floor(random() * makers.length)] ?? (() => ""))(), binary: false };
}
