import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { listProcesses } from "../processes/process-table.ts";
import { openPlainExchange } from "../sandbox/exchange.ts";
import { createWatcher } from "../watching/watcher.ts";
import { createWorkspace } from "../workspace.ts";
import { createLanguageClient } from "./client.ts";
import { createLanguageServers, type LanguageServersOptions } from "./language-servers.ts";
import { ServerUnavailable } from "./unavailable.ts";

const signal = new AbortController().signal;
/** Other tests may load the machine. */
const PATIENT = { timeout: 40_000 };
const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function openServers(options: Partial<LanguageServersOptions> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-servers-")));
  const root = join(base, "project");
  for (const folder of [root, join(base, "home")]) mkdirSync(folder);
  writeFileSync(join(root, "tsconfig.json"), '{ "compilerOptions": { "strict": true, "types": [] } }');
  writeFileSync(join(root, "a.ts"), "export const one = 1;\n");
  writeFileSync(join(root, "b.ts"), 'import { one } from "./a";\nexport const two = one + 1;\n');
  const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const workspace = createWorkspace({ roots: [root], env, warn: () => {} });
  const { confinement, sandbox, state } = workspace;
  const watcher = createWatcher({ confinement });
  const log: string[] = [];
  const servers = createLanguageServers({
    confinement,
    sandbox,
    state,
    watcher,
    env,
    ...options,
    log: (line) => log.push(line),
  });
  const close = async () => {
    await servers.close();
    await watcher.close();
  };
  opened.push(() => rmSync(base, { recursive: true }), workspace.close, close);
  const path = join(root, "b.ts");
  const serverFor = async (file: string) => {
    const found = await servers.find(join(root, file));
    if (!("server" in found)) throw new Error(found.how);
    return found.server;
  };
  const define = async () =>
    createLanguageClient(await serverFor("b.ts")).definition(
      { path, position: { line: 1, col: 19 } },
      signal,
    );
  return { root, path, servers, serverFor, define, log, watcher, close };
}

/** What runs below a process, and itself. */
function familyOf(pid: number): number[] {
  const rows = listProcesses();
  const family = new Set([pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const row of rows) if (family.has(row.ppid)) family.add(row.pid);
  }
  return rows.filter((row) => family.has(row.pid)).map((row) => row.pid);
}
const alive = (pids: readonly number[]) => listProcesses().filter(({ pid }) => pids.includes(pid));
const until = async (isMet: () => boolean) => {
  while (!isMet()) await delay(5);
};

test("one server is shared by all who ask at the same time", async () => {
  const { define, serverFor } = openServers();
  const answers = await Promise.all([define(), define(), define()]);
  for (const answer of answers) expect(answer).toHaveLength(1);
  expect(await serverFor("a.ts")).toBe(await serverFor("b.ts"));
});

test("a server that was killed is started again by the next question", async () => {
  const { define, serverFor, log } = openServers();
  await define();
  const server = await serverFor("b.ts");
  const first = server.running!.pid;
  // Sandboxed processes end a moment later and could still answer.
  const family = familyOf(first);
  process.kill(first, "SIGKILL");
  await until(() => alive(family).length === 0);
  expect(await define()).toHaveLength(1);
  expect(server.running?.pid).not.toBe(first);
  expect(log).toEqual([expect.stringContaining("1 of 5")]);
});

test("a server that dies in the middle of a question is asked again", async () => {
  const { define, serverFor } = openServers();
  await define();
  const asked = define();
  process.kill((await serverFor("b.ts")).running!.pid, "SIGKILL");
  expect(await asked).toHaveLength(1);
});

test("a server that registers its diagnostics twice is asked once, so that no failure goes unnoticed", async () => {
  const silent = join(import.meta.dirname, "../../testing/language-servers/silent-server.ts");
  const command = [process.execPath, silent, "1", "registers"] as const;
  const { root, serverFor } = openServers({ configured: { zig: { command: [...command] } } });
  writeFileSync(join(root, "a.zig"), "x");
  const client = createLanguageClient(await serverFor("a.zig"));
  const stop = new AbortController();
  const asked = client.diagnostics(join(root, "a.zig"), 60_000, stop.signal);
  await expect.poll(client.isLoading).toBe(true);
  stop.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
});

test("a server that has died five times is left alone, and after a while gets one more chance", async () => {
  const dieFiveTimes = async (circuitMs: number) => {
    const zig = { command: ["/bin/false"] as const };
    const { serverFor, log } = openServers({ configured: { zig }, limits: { circuitMs } });
    const server = await serverFor("a.zig");
    const use = () => server.use(async () => 1, signal);
    for (let n = 1; n <= 5; n++) await expect(use()).rejects.toThrow(/died|stream|closed/i);
    expect(log).toHaveLength(5);
    return { use, log };
  };
  const alone = await dieFiveTimes(600_000);
  await expect(alone.use()).rejects.toThrow("has died 5 times");
  expect(alone.log).toHaveLength(5);
  const later = await dieFiveTimes(1);
  await delay(2);
  await expect(later.use()).rejects.toBeInstanceOf(ServerUnavailable);
  expect(later.log).toHaveLength(6);
});

test("a server that holds more memory than it may is ended", async () => {
  const { serverFor, log } = openServers({ limits: { maxMemoryBytes: 1, lookMs: 5 } });
  const server = await serverFor("b.ts");
  await server.use(async () => {}, signal);
  await until(() => server.running === undefined);
  expect(log[0]).toContain("more than the 1 that it may");
});

test("an idle server is stopped, and that does not count as a crash", async () => {
  const { define, serverFor, log } = openServers({ limits: { idleMs: 1, lookMs: 5 } });
  await define();
  const server = await serverFor("b.ts");
  await until(() => server.running === undefined);
  expect(await define()).toHaveLength(1);
  expect(log).toEqual([]);
});

test("closing leaves no process", async () => {
  const { define, serverFor, close } = openServers();
  await define();
  const family = familyOf((await serverFor("b.ts")).running!.pid);
  expect(family.length).toBeGreaterThan(0);
  await close();
  expect(alive(family)).toEqual([]);
});

test("files that other programs create, change or remove are noticed without a notification", async () => {
  const { root, path, serverFor, define, watcher } = openServers();
  expect(await define()).toMatchObject([{ path: join(root, "a.ts"), range: { start: { line: 0 } } }]);
  await watcher.ready();
  const client = createLanguageClient(await serverFor("b.ts"));
  writeFileSync(join(root, "a.ts"), "\n\n\nexport const one = 1;\n");
  await expect.poll(define, PATIENT).toMatchObject([{ range: { start: { line: 3 } } }]);
  rmSync(join(root, "a.ts"));
  await expect.poll(() => client.diagnostics(path, 5_000, signal), PATIENT).toMatchObject([{ code: "2307" }]);
  writeFileSync(join(root, "a.ts"), "export const one = 1;\n");
  await expect.poll(() => client.diagnostics(path, 5_000, signal), PATIENT).toEqual([]);
});

test("1,000 files edited behind our back are known", async () => {
  const { root, path, serverFor, define, watcher } = openServers();
  for (let n = 0; n < 1_000; n++)
    writeFileSync(join(root, `m${n}.ts`), `export const m${n}: number = ${n};\n`);
  const imports = Array.from({ length: 1_000 }, (_, n) => `import { m${n} } from "./m${n}";`).join("\n");
  writeFileSync(
    path,
    `${imports}\nexport const all: number[] = [${Array.from({ length: 1_000 }, (_, n) => `m${n}`)}];\n`,
  );
  await define();
  await watcher.ready();
  const client = createLanguageClient(await serverFor("b.ts"));
  expect(await client.diagnostics(path, 20_000, signal)).toEqual([]);
  for (let n = 0; n < 1_000; n++)
    writeFileSync(join(root, `m${n}.ts`), `export const m${n}: string = "${n}";\n`);
  await expect
    .poll(async () => (await client.diagnostics(path, 20_000, signal))?.length, PATIENT)
    .toBe(1_000);
});

test("available and missing features of a server are reported, with what to do", async () => {
  const { servers } = openServers({ configured: { zig: { command: ["zls"] } } });
  const rows = Object.fromEntries((await servers.backends()).map((row) => [row.name, row]));
  expect(rows["lsp:typescript"]).toMatchObject({ available: true, version: expect.stringMatching(/^\d+\./) });
  expect(rows["lsp:zig"]).toMatchObject({ available: true, detail: expect.stringContaining("settings") });
  expect(rows["lsp:java"]).toMatchObject({ available: false, detail: expect.stringContaining("jdtls") });
});

test("a program on PATH that does not work is not taken for a server", async () => {
  const env: NodeJS.ProcessEnv = {};
  const { servers, root } = openServers({ env });
  env["PATH"] = `${root}:/bin:/usr/bin`;
  writeFileSync(join(root, "clangd"), "#!/bin/sh\necho 'no such component' >&2\nexit 1\n", { mode: 0o755 });
  const found = (await servers.backends()).find(({ name }) => name === "lsp:cpp");
  expect(found).toMatchObject({ available: false, detail: expect.stringContaining("no such component") });
  expect(await servers.find(join(root, "a.cpp"))).toEqual({ how: expect.stringContaining("clangd") });
});

test("a server of the project itself is not started without a sandbox", async () => {
  const { root, servers } = openServers({
    bundledFrom: null,
    env: { PATH: "/usr/bin:/bin" },
    sandbox: {
      status: async () => ({ mode: "off", level: "off", detail: "", container: null, tried: [] }),
      openExchange: async () => openPlainExchange(),
      limits: () => ({}),
      unconfined: async () => undefined,
      wrapApart: async () => undefined,
      allowProtected: async () => {},
      wrap: async ({ argv, folder, env }) => ({ argv, folder, env, launcher: false, release: () => [] }),
      close: async () => {},
    },
  });
  const folder = join(root, "node_modules/pyright");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "version": "1.1.0" }');
  writeFileSync(join(folder, "langserver.index.js"), "require('node:fs').writeFileSync('ran', '')");
  expect(await servers.find(join(root, "a.py"))).toEqual({ how: expect.stringContaining("pyright") });
  expect(() => readFileSync(join(root, "ran"))).toThrow("ENOENT");
});

test("a missing command is reported as such, and no server answers", async () => {
  const { serverFor, servers } = openServers({ configured: { zig: { command: ["/nowhere/zls"] } } });
  const server = await serverFor("a.zig");
  await expect(server.use(async () => 1, signal)).rejects.toBeInstanceOf(ServerUnavailable);
  const row = (await servers.backends()).find(({ name }) => name === "lsp:zig");
  expect(row?.detail).toContain("has died");
});

test.each(["workspace", "off"] as const)(
  "a server of language servers that is killed leaves none behind, with the sandbox %s",
  async (mode) => {
    const { root } = openServers();
    const script = join(import.meta.dirname, "../../testing/language-servers/serving-process.ts");
    const env = { ...process.env, XDG_STATE_HOME: join(root, "../state") };
    const child = spawn(process.execPath, [script, root, mode], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [told] = await once(child.stdout, "data");
    const family = familyOf(Number(String(told)));
    expect(family.length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await expect.poll(() => alive(family), PATIENT).toEqual([]);
  },
);

test("closing does not wait for a server that never shakes hands", async () => {
  const { serverFor, close } = openServers({ configured: { zig: { command: ["/bin/sleep", "1000"] } } });
  const asked = (await serverFor("a.zig")).use(async () => 1, signal);
  const refused = expect(asked).rejects.toBeInstanceOf(ServerUnavailable);
  await close();
  await refused;
});
