import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AUDIENCE,
  callTool,
  connect,
  createTestIssuer,
  ISSUER,
  initialize,
  PROTOCOL,
  type RunningBridge,
  startBridge,
  type TestIssuer,
} from "./bridge-client.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";

let issuer: TestIssuer;
let project: FixtureProject;
let bridge: RunningBridge;
beforeAll(async () => {
  issuer = await createTestIssuer();
  project = createFixtureProject();
  bridge = await startBridge(project, issuer, ["--max-streams", "3"]);
});
afterAll(async () => {
  await bridge[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const now = () => Math.floor(Date.now() / 1_000);
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const unsigned = (claims: object) => `${base64({ alg: "none" })}.${base64(claims)}.`;

describe("a handshake", () => {
  test.each(["RS256", "ES256"] as const)("with a token that is signed with %s is accepted", async (alg) => {
    using client = await connect(bridge.url, await issuer.sign({ sub: alg, owner: alg }, { alg }));
    expect(client.ws.protocol).toBe(PROTOCOL);
  });

  test.each<[string, () => Promise<string> | string]>([
    ["alg none", () => unsigned({ iss: ISSUER, aud: AUDIENCE, sub: "ann", owner: "acme", exp: now() + 600 })],
    ["another algorithm", () => issuer.sign({}, { alg: "ES384" })],
    ["a wrong audience", () => issuer.sign({ aud: "other" })],
    ["a wrong issuer", () => issuer.sign({ iss: "https://evil.example" })],
    ["an expired time", () => issuer.sign({ exp: now() - 60 })],
    ["no expiry", () => issuer.sign({ exp: undefined })],
    ["a time in the future", () => issuer.sign({ nbf: now() + 600 })],
    ["an unknown key id", () => issuer.sign({}, { kid: "nobody" })],
    ["a key that is not in the set", () => issuer.sign({}, { strange: true })],
    ["no owner", () => issuer.sign({ owner: undefined })],
    ["an owner that is not a name", () => issuer.sign({ owner: { id: 1 } })],
    ["an empty owner", () => issuer.sign({ owner: "" })],
    ["no form of a token", () => "x"],
  ])("with %s is refused with 401", async (_what, token) => {
    await expect(connect(bridge.url, await token())).rejects.toThrow("HTTP 401");
  });

  test("without a token, the subprotocol, a known path or a known origin is refused before the upgrade", async () => {
    const token = await issuer.sign();
    const refused = (options: object) => expect(connect(bridge.url, token, options)).rejects;
    await refused({ protocols: [PROTOCOL] }).toThrow("HTTP 401");
    await refused({ protocols: [`bearer.${token}`] }).toThrow("HTTP 400");
    await refused({ path: "/other" }).toThrow("HTTP 404");
    await refused({ path: "/mcp?after=x" }).toThrow("HTTP 404");
    for (const origin of ["https://evil.example", "https://app.example.evil.example", "null", null])
      await refused({ origin }).toThrow("HTTP 403");
  });
});

test("calls are answered as the owner, and binary frames are refused with 1003", async () => {
  using client = await connect(bridge.url, await issuer.sign({ owner: "binary" }));
  await initialize(client);
  const answer = await callTool(client, "fs", { action: "read", uri: "README.md" });
  expect(JSON.stringify(answer)).toContain("A small project.");
  client.ws.send(Buffer.from("{}"), { binary: true });
  expect(await client.closed).toBe(1003);
});

describe("a stream", () => {
  const words = (count: number) => `for i in $(seq ${count}); do echo line $i; done`;
  const seen = (frames: readonly Record<string, unknown>[]) => frames.map((frame) => JSON.stringify(frame));

  test("continues after a lost connection: every frame once, in order, including those sent meanwhile", async () => {
    const token = await issuer.sign({ owner: "back" });
    const first = await connect(bridge.url, token);
    await initialize(first);
    const running = callTool(first, "proc", { action: "exec", command: words(3) });
    await running;
    first.send({
      jsonrpc: "2.0",
      id: "late",
      method: "tools/call",
      params: { name: "fs", arguments: { action: "read", uri: "README.md" } },
    });
    first.ws.terminate();
    await first.closed;
    using second = await connect(bridge.url, token, {
      path: `/mcp?stream=${first.stream}&after=${first.frames.length}`,
    });
    expect(second.stream).toBe(first.stream);
    await second.wait(({ id }) => id === "late");
    using third = await connect(bridge.url, token, { path: `/mcp?stream=${first.stream}&after=0` });
    expect(await second.closed).toBe(4409);
    await third.wait(({ id }) => id === "late");
    expect(seen(third.frames)).toEqual(seen([...first.frames, ...second.frames]));
  });

  test("is gone for other owners, other people, wrong numbers and wrong ids, with 4410", async () => {
    using mine = await connect(bridge.url, await issuer.sign({ owner: "mine" }));
    const path = (stream: string, after = 0) => ({ path: `/mcp?stream=${stream}&after=${after}` });
    const strangers = [{ owner: "other" }, { owner: "mine", sub: "bob" }];
    for (const claims of strangers)
      await expect(connect(bridge.url, await issuer.sign(claims), path(mine.stream))).rejects.toThrow(
        "closed 4410",
      );
    const token = await issuer.sign({ owner: "mine" });
    await expect(connect(bridge.url, token, path(mine.stream, 7))).rejects.toThrow("closed 4410");
    await expect(connect(bridge.url, token, path("stream_0"))).rejects.toThrow("closed 4410");
    await initialize(mine);
  });

  test("ends its connection with 4401 when the token expires", async () => {
    // The clock may differ by five seconds.
    using client = await connect(bridge.url, await issuer.sign({ owner: "short", exp: now() - 4 }));
    expect(await client.closed).toBe(4401);
  });

  test("counts towards its owner's limit; others are not affected", async () => {
    const token = await issuer.sign({ owner: "greedy" });
    const open = await Promise.all([1, 2, 3].map(() => connect(bridge.url, token)));
    await expect(connect(bridge.url, token)).rejects.toThrow("HTTP 429");
    using other = await connect(bridge.url, await issuer.sign({ owner: "modest" }));
    await initialize(other);
    for (const client of open) client[Symbol.dispose]();
  });
});

test("jobs, refs and processes of one owner do not exist for another", async () => {
  using ann = await connect(bridge.url, await issuer.sign({ owner: "ann" }));
  using bob = await connect(bridge.url, await issuer.sign({ owner: "bob" }));
  await Promise.all([initialize(ann), initialize(bob)]);
  const ran = JSON.stringify(await callTool(ann, "proc", { action: "exec", command: "echo secret of ann" }));
  const [, proc_id = ""] = /(proc_(?!id)[0-9a-z]+)/.exec(ran) ?? [];
  expect(proc_id).not.toBe("");
  const read = { action: "read", uri: `stdout:${proc_id}` };
  expect(JSON.stringify(await callTool(ann, "fs", read))).toContain("secret of ann");
  const others = JSON.stringify(await callTool(bob, "fs", read));
  expect(others).toContain("NOT_FOUND");
  expect(others).not.toContain("secret");
});

describe("a token for reading", () => {
  let files = 0;
  const mayWrite = async (client: Awaited<ReturnType<typeof connect>>) => {
    const uri = `written-${files++}.txt`;
    await callTool(client, "fs", { action: "write", uri, content: "x" });
    return existsSync(join(project.root, uri));
  };

  test.each<[unknown, boolean]>([
    ["read", true],
    ["openid read", true],
    ["  read\topenid ", true],
    [["openid", "read"], true],
    ["read write", false],
    ["openid", false],
    [undefined, false],
  ])("has scope %j: %j", async (scope, isReadOnly) => {
    using client = await connect(bridge.url, await issuer.sign({ owner: `scoped ${scope}`, scope }));
    await initialize(client);
    expect(await mayWrite(client)).toBe(!isReadOnly);
  });

  test.each([7, {}, [1]])("with scope %j is refused with 401", async (scope) => {
    await expect(connect(bridge.url, await issuer.sign({ scope }))).rejects.toThrow("HTTP 401");
  });

  test("does not continue a stream that may write, nor the other way round", async () => {
    for (const [first, second] of [
      [undefined, "read"],
      ["read", undefined],
    ]) {
      using opened = await connect(bridge.url, await issuer.sign({ owner: "both", scope: first }));
      const path = { path: `/mcp?stream=${opened.stream}&after=0` };
      const token = await issuer.sign({ owner: "both", scope: second });
      await expect(connect(bridge.url, token, path)).rejects.toThrow("closed 4410");
    }
  });
});

test("broken frames are answered, and the stream continues", async () => {
  using client = await connect(bridge.url, await issuer.sign({ owner: "broken" }));
  await initialize(client);
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    "[".repeat(5_000),
    '"x"',
    "\u0000",
    '{"jsonrpc":"1.0"}',
    "x".repeat(10_000),
  ])
    client.send(text);
  const answer = await callTool(client, "fs", { action: "read", uri: "README.md" });
  expect(JSON.stringify(answer)).toContain("A small project.");
});
