import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry, type PackRights, ToolError } from "@octant/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOCAL_CALLER } from "../edges.ts";
import { createOctant, type Octant, openOctant } from "../octant.ts";
import type { LoadedPack } from "./load-pack.ts";
import { openPackProcess } from "./pack-process.ts";
import { readPack } from "./read-pack.ts";

/** A pack with one action for each way to harm its host. */
const MODULE = `
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { action, defineTool, ToolError, Uri } from "@octant/core";
import { z } from "zod";

const act = (run, input = {}) => action({
  summary: "Do it.", access: "write", timing: "sync", intent: "apply",
  input: z.strictObject(input), output: z.any(), examples: [{ title: "Do it", input: {} }], run,
});
export const tools = (context) => [defineTool({
  name: "bad",
  summary: "Does harm.",
  actions: {
    pid: act(() => ({ pid: process.pid, at: performance.timeOrigin })),
    refuse: act(() => { throw new ToolError("NOT_FOUND", "nothing here", { id: "x" }); }),
    bug: act(() => { throw new TypeError("oops"); }),
    crash: act(() => process.abort()),
    exit: act(() => process.exit(3)),
    reject: act(() => { Promise.reject(new Error("nobody catches this")); return new Promise(() => {}); }),
    hang: act(() => { for (;;); }),
    flood: act((_, ctx) => { for (let i = 0; i < 20_000; i++) ctx.emit({ kind: "log", line: "x".repeat(1_000) }); return {}; }),
    shout: act(async () => { for (;;) await new Promise((done) => process.stdout.write("x".repeat(1 << 20), done)); }),
    odd: act((_, ctx) => { ctx.emit({ kind: "nonsense", a: 1 }); ctx.progress({ progress: "much" }); ctx.attach(7); return { ok: true }; }),
    env: act(() => ({ env: process.env })),
    sign_in: act(({ provider }) => context.credentials(provider), { provider: z.string() }),
    wait: act((_, ctx) => { ctx.emit({ kind: "text", text: "waiting" }); return new Promise(() => {}); }),
    long: { ...act((_, ctx) => { ctx.progress({ progress: 1, total: 2 }); return new Promise(() => {}); }), timing: "async_long" },
    pages: act(async (_, ctx) => { ctx.more({ at: 1 }); return {}; }),
    roots: act(() => ({ roots: context.roots })),
    read: act(({ uri }) => ({ text: readFileSync(uri, "utf8") }), { uri: Uri }),
    write: act(({ uri }) => { writeFileSync(uri, "changed"); return {}; }, { uri: Uri }),
    peek: act(({ code }) => ({ text: readFileSync(Buffer.from(code, "base64"), "utf8") }), { code: z.string() }),
    poke: act(({ code }) => { writeFileSync(Buffer.from(code, "base64"), "changed"); return {}; }, { code: z.string() }),
    start: act(() => new Promise((done, fail) => spawn("/bin/true").on("error", fail).on("close", () => done({})))),
    fetch: act(async ({ url }) => ({ status: (await fetch(url)).status }), { url: z.string() }),
  },
})];
`;

let folder: string;
let octant: Octant;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-packs-")));
  mkdirSync(join(folder, "project"));
  writeFileSync(join(folder, "project/a.txt"), "here");
  octant = createOctant({ projectPath: join(folder, "project"), tools: ["ws", "job"] });
});

afterAll(async () => {
  await octant.close();
  rmSync(folder, { recursive: true, force: true });
});

let packs = 0;

/** A folder with the pack. */
function make(rights: Partial<PackRights>): string {
  const at = join(folder, `pack-${packs++}`);
  mkdirSync(join(at, "data"), { recursive: true });
  const octantField = { pack: "bad", rights };
  const manifest = { type: "module", exports: "./index.js", octant: octantField };
  const peers = { peerDependencies: { "@octant/core": "*" } };
  writeFileSync(join(at, "package.json"), JSON.stringify({ ...manifest, ...peers }));
  writeFileSync(join(at, "index.js"), MODULE);
  return at;
}

async function open(rights: Partial<PackRights> = {}, heartbeatMs?: number) {
  const at = make(rights);
  const logged: string[] = [];
  const registry = createRegistry([]);
  const loaded: LoadedPack = await openPackProcess({
    pack: readPack(at),
    settings: undefined,
    data: join(at, "data"),
    workspace: octant.workspace,
    effective: octant.config.settings,
    uses: { registry, dispatch: octant.dispatchTo(registry) },
    credentials: async () => ({}),
    denied: () => undefined,
    check: () => {},
    log: (line) => logged.push(line),
    heartbeatMs,
  });
  const own = createRegistry(loaded.tools);
  const dispatch = octant.dispatchTo(own);
  const call = async (action: string, input: object = {}, signal?: AbortSignal, onStream?: () => void) =>
    (await dispatch({ tool: "bad", action, input }, { caller: LOCAL_CALLER, signal, onStream })).envelope;
  const backends = async () => loaded.tools[0]?.backends?.() ?? [];
  return { call, backends, logged, at, [Symbol.asyncDispose]: loaded.close };
}

describe("a pack in its own process", () => {
  test("returns its own errors, and its bugs as UPSTREAM_ERROR", async () => {
    await using pack = await open();
    expect((await pack.call("refuse")).error).toMatchObject({ code: "NOT_FOUND", message: "nothing here" });
    expect((await pack.call("bug")).error).toMatchObject({ code: "UPSTREAM_ERROR" });
    expect((await pack.call("pid")).ok).toBe(true);
  });

  /** The calls that it may be running when it fails. */
  const KINDS = ["pid", "wait", "long", "pages", "flood", "backends"] as const;
  test.each([
    ["crash", /ended: ended by SIG|exit code/],
    ["exit", /exit code 3/],
    ["reject", /exit code 1/, /nobody catches this/],
    ["shout", /wrote more than/],
  ])(
    "that does %s fails its running calls or has answered them, and answers the next from a new process",
    async (harm, reason, logged = reason) => {
      await using pack = await open();
      const before = await pack.call("pid");
      const begun = Promise.withResolvers<void>();
      const running = KINDS.map((kind) =>
        kind === "backends" ? pack.backends() : pack.call(kind, {}, undefined, () => begun.resolve()),
      );
      // Those that never end have begun; the others race with the failure.
      await begun.promise;
      const { error } = await pack.call(harm);
      expect(error).toMatchObject({ code: "UPSTREAM_ERROR", message: expect.stringMatching(reason) });
      const outcomes = await Promise.all(running.map((one) => one.catch((cause: unknown) => cause)));
      for (const [at, outcome] of outcomes.entries()) {
        const isTyped = outcome instanceof ToolError || Array.isArray(outcome) || "ok" in Object(outcome);
        expect(isTyped, `${KINDS[at]}: ${outcome}`).toBe(true);
        if (Object(outcome).ok === false)
          expect(Object(outcome).error.code, KINDS[at]).toBe("UPSTREAM_ERROR");
      }
      // The pack's own output, with its paths, is for the person alone.
      expect(error?.message).not.toMatch(/\.js|nobody catches/);
      expect(pack.logged.join("\n")).toMatch(logged);
      expect(await octant.client.ws.status({})).toMatchObject({ enabled: true });
      const after = await pack.call("pid");
      expect(after.ok).toBe(true);
      expect(after.data).not.toEqual(before.data);
    },
  );

  test("that hangs is stopped, and other calls to it get a typed error", async () => {
    await using pack = await open({}, 60);
    const calls = await Promise.all([pack.call("hang"), pack.call("pid")]);
    expect(calls.map(({ error }) => error?.code)).toEqual(["UPSTREAM_ERROR", "UPSTREAM_ERROR"]);
    expect((await pack.call("pid")).ok).toBe(true);
  });

  test("that hangs does not hold a caller who cancels", async () => {
    await using pack = await open();
    const cancel = new AbortController();
    const hanging = pack.call("hang", {}, cancel.signal);
    cancel.abort();
    expect((await hanging).error?.code).toBe("CANCELLED");
  });

  test("that fails again and again has to wait", async () => {
    await using pack = await open();
    await pack.call("exit");
    await pack.call("exit");
    expect((await pack.call("pid")).error).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringMatching(/failed 2 times; it may be called again in \d+ ms/),
    });
  });

  test("that floods its stream, or streams nonsense, answers", async () => {
    await using pack = await open();
    expect((await pack.call("flood")).ok).toBe(true);
    expect((await pack.call("odd")).data).toEqual({ ok: true });
  });

  test("has the declared rights, and no others", async () => {
    await using none = await open();
    const file = join(folder, "project/a.txt");
    expect((await none.call("roots")).data).toEqual({ roots: [] });
    expect((await none.call("read", { uri: file })).ok).toBe(false);
    expect((await none.call("read", { uri: "/root/.ssh/id_rsa" })).ok).toBe(false);
    expect((await none.call("start")).ok).toBe(false);
    expect((await none.call("fetch", { url: "http://127.0.0.1:9/" })).ok).toBe(false);
    await using reads = await open({ files: "read" });
    expect((await reads.call("read", { uri: file })).data).toEqual({ text: "here" });
    expect((await reads.call("write", { uri: file })).ok).toBe(false);
    await using all = await open({ files: "write", processes: true });
    expect((await all.call("write", { uri: file })).ok).toBe(true);
    expect((await all.call("start")).ok).toBe(true);
    expect((await all.call("write", { uri: join(all.at, "index.js") })).ok).toBe(false);
  });

  test("reaches the hosts that it names", async () => {
    const { createServer } = await import("node:http");
    const server = createServer((_, answer) => answer.end("hi")).listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    const { port } = Object(server.address());
    await using pack = await open({ network: [`127.0.0.1:${port}`] });
    expect((await pack.call("fetch", { url: `http://127.0.0.1:${port}/` })).data).toEqual({ status: 200 });
    const other = await pack.call("fetch", { url: `http://127.0.0.1:${Number(port) + 1}/` });
    expect(other.data ?? {}).not.toMatchObject({ status: 200 });
    const refused = `was refused a connection: 127.0.0.1:${Number(port) + 1} is not among the hosts`;
    expect(pack.logged.filter((line) => line.includes(refused))).toHaveLength(1);
    server.close();
  });
});

describe("deny rules for paths", () => {
  /** A workspace whose rules hide files, with a pack that has this right. */
  async function openDenied(files: "read" | "write") {
    const at = make({ files });
    const home = `${at}-home`;
    const root = join(home, "project");
    mkdirSync(join(root, "secret"), { recursive: true });
    mkdirSync(join(root, ".hanzo"));
    for (const name of ["secret/key.txt", ".env", "lock.txt", "open.txt"])
      writeFileSync(join(root, name), name);
    const permissions = [
      { tool_pattern: "*", mode: "deny", args: { path: "secret/**" } },
      { tool_pattern: "bad.p*", mode: "deny", args: { path: ".env" } },
      { tool_pattern: "fs.write", mode: "deny", args: { path: "lock.txt" } },
    ];
    writeFileSync(join(root, ".hanzo/settings.json"), JSON.stringify({ permissions }));
    const env = { PATH: process.env["PATH"], HOME: home };
    const opened = await openOctant({ projectPath: root, packs: [at], tools: ["job"], env });
    const call = async (action: string, input: object = {}) =>
      (await opened.dispatch({ tool: "bad", action, input }, { caller: LOCAL_CALLER })).envelope;
    /** The argument does not show which file it is, so that only the process can be kept from it. */
    const reach = (action: "peek" | "poke", name: string) =>
      call(action, { code: Buffer.from(join(root, name)).toString("base64") });
    return { root, call, reach, [Symbol.asyncDispose]: opened.close };
  }

  test.each(["read", "write"] as const)("hide files from a pack that may %s files", async (files) => {
    await using pack = await openDenied(files);
    const check = async () => {
      for (const name of ["secret/key.txt", ".env"]) {
        expect((await pack.reach("peek", name)).data ?? {}).not.toMatchObject({ text: name });
        await pack.reach("poke", name);
        expect(readFileSync(join(pack.root, name), "utf8")).toBe(name);
      }
      // The rule for lock.txt is about a tool of Octant.
      for (const name of ["open.txt", "lock.txt"])
        expect((await pack.reach("peek", name)).data).toEqual({ text: name });
    };
    await check();
    await pack.call("exit");
    await check();
    expect((await pack.reach("poke", "open.txt")).ok).toBe(files === "write");
  });

  test("hold on the arguments of its tools", async () => {
    await using pack = await openDenied("write");
    const denied = [
      ["read", "secret/key.txt"],
      ["read", join(pack.root, "secret/key.txt")],
      ["read", `file://${pack.root}/secret/key.txt`],
      ["read", "./a/../secret/key.txt"],
      ["write", "secret/new.txt"],
    ] as const;
    for (const [action, uri] of denied)
      expect((await pack.call(action, { uri })).error, uri).toMatchObject({ code: "PERMISSION_DENIED" });
    expect((await pack.call("read", { uri: join(pack.root, "open.txt") })).data).toEqual({
      text: "open.txt",
    });
  });
});

describe("rights in a whole Octant", () => {
  /** A server on this machine, and a pack that may reach it by the setting `address`. */
  async function openNetwork(settings: object, rights: Partial<PackRights> = {}) {
    const server = createServer((_, answer) => answer.end("hi")).listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on TCP has an address of this type.
    const { port } = server.address() as AddressInfo;
    const at = make({ network: ["$address"], ...rights });
    writeFileSync(
      join(at, "index.js"),
      `${MODULE}\nexport const settings = z.strictObject({ address: z.url() });\n`,
    );
    const home = `${at}-home`;
    mkdirSync(join(home, ".config/hanzo"), { recursive: true });
    mkdirSync(join(home, "project"));
    const url = `http://127.0.0.1:${port}/`;
    const packs = { bad: { from: at, settings: { address: url } } };
    writeFileSync(
      join(home, ".config/hanzo/settings.json"),
      JSON.stringify({ packs, ...settings }).replaceAll("{host}", `127.0.0.1:${port}`),
      { mode: 0o600 },
    );
    const env = { PATH: process.env["PATH"], HOME: home, HANZO_API_KEY: "sk-hanzo-of-the-person" };
    const opened = await openOctant({ projectPath: join(home, "project"), packs: [at], tools: ["job"], env });
    const call = async (action: string, input: object = {}) =>
      (await opened.dispatch({ tool: "bad", action, input }, { caller: LOCAL_CALLER })).envelope;
    return {
      url,
      call,
      async [Symbol.asyncDispose]() {
        await opened.close();
        server.close();
      },
    };
  }

  test("a pack reaches the host of a setting that its rights name", async () => {
    await using pack = await openNetwork({});
    expect((await pack.call("fetch", { url: pack.url })).data).toEqual({ status: 200 });
    const other = pack.url.replace("127.0.0.1", "127.0.0.2");
    expect((await pack.call("fetch", { url: other })).data ?? {}).not.toMatchObject({ status: 200 });
  });

  const RULE = { tool_pattern: "*", mode: "deny", args: { host: "{host}" } };
  test.each([
    ["net.deny", { net: { deny: ["{host}"] } }],
    ["net.deny of a host without its port", { net: { deny: ["127.0.0.1"] } }],
    ["a deny rule for all tools", { permissions: [RULE] }],
    ["a deny rule for its tool", { permissions: [{ ...RULE, tool_pattern: "bad.*" }] }],
    ["sandbox.network", { sandbox: { network: ["example.com"] } }],
  ])("%s holds in its proxy", async (_, settings) => {
    await using pack = await openNetwork(settings);
    const { data } = await pack.call("fetch", { url: pack.url });
    expect(data ?? {}).not.toMatchObject({ status: 200 });
  });

  test("a sign-in is there only for a pack that declared it, and in no environment", async () => {
    await using none = await openNetwork({});
    expect((await none.call("sign_in", { provider: "hanzo" })).ok).toBe(false);
    await using declared = await openNetwork({}, { credentials: ["hanzo"] });
    const signedIn = await declared.call("sign_in", { provider: "hanzo" });
    expect(signedIn.data).toEqual({ authorization: "Bearer sk-hanzo-of-the-person" });
    expect((await declared.call("sign_in", { provider: "openai" })).error?.code).toBe("PERMISSION_DENIED");
    for (const pack of [none, declared])
      expect(JSON.stringify((await pack.call("env")).data)).not.toContain("sk-hanzo");
  });
});
