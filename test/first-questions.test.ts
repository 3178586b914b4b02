import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runOctant } from "./octant-process.ts";
import { installCommand } from "./published-command.ts";

const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const ERAS = {
  handshake: [
    request(1, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    }),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    request(2, "tools/list"),
  ],
  modern: [request(1, "server/discover", { _meta }), request(2, "tools/list", { _meta })],
};

type Era = keyof typeof ERAS;

let folder: string;
let launcher: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "octant-first-questions-"));
  launcher = installCommand(join(folder, "install"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A person with a project who has never started a server. */
function createPerson() {
  const home = mkdtempSync(join(folder, "home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const at = (name: string) => join(home, name);
  mkdirSync(at("project"));
  const person = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CACHE_HOME: at("cache"),
    XDG_CONFIG_HOME: at("config"),
    XDG_STATE_HOME: at("state"),
  };
  return {
    /** The answers of a server to the first requests. */
    async start(start: Start = {}): Promise<string> {
      const { era = "handshake", flags = [], variables = {} } = start;
      const input = ERAS[era].map((message) => `${JSON.stringify(message)}\n`).join("");
      const env = { ...person, ...variables };
      const options = { cwd: at("project"), env, launcher, input };
      const { code, stderr, stdout } = await runOctant(["serve", ...flags], options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return stdout;
    },
    /** Marks the cached answers, so that they can be recognised. */
    markKept() {
      const entries = at("cache/octant/handshakes");
      for (const name of readdirSync(entries)) {
        const file = join(entries, name);
        writeFileSync(file, asKept(readFileSync(file, "utf8")));
      }
    },
    writeSettings(settings: object) {
      mkdirSync(at("config/hanzo"), { recursive: true });
      writeFileSync(at("config/hanzo/settings.json"), JSON.stringify(settings));
    },
  };
}

interface Start {
  readonly era?: Era;
  readonly flags?: readonly string[];
  readonly variables?: NodeJS.ProcessEnv;
}

const KEPT = "fs-as-kept";
const asKept = (text: string): string => text.replaceAll("fs", KEPT);

const toolNames = (lines: string): string[] => {
  const list = JSON.parse(lines.trimEnd().split("\n").at(-1) ?? "");
  return list.result.tools.map(({ name }: { name: string }) => name);
};

test.each(["handshake", "modern"] as const)(
  "a second start answers with the very bytes of the first, from what it kept: %s",
  async (era) => {
    const { start, markKept } = createPerson();
    const first = await start({ era });
    expect(toolNames(first)).toEqual(expect.arrayContaining(["fs", "vcs"]));
    expect(await start({ era })).toBe(first);
    markKept();
    expect(await start({ era })).toBe(asKept(first));
  },
);

test("a server loads no tool before the first call", async () => {
  const { start } = createPerson();
  await start();
  const [hooks, loaded] = [join(folder, "record-loads.mjs"), join(folder, "loaded.json")];
  writeFileSync(
    hooks,
    `import { writeFileSync } from "node:fs";
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
    process.on("exit", () => writeFileSync(${JSON.stringify(loaded)}, JSON.stringify(urls)));`,
  );
  await start({ variables: { NODE_OPTIONS: `--import=${hooks}` } });
  const urls: string[] = JSON.parse(readFileSync(loaded, "utf8"));
  const files = urls.filter((url) => url.includes("/dist/")).map((url) => fileURLToPath(url));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(files.length).toBeGreaterThan(1);
  // Of 2 MB that a call needs.
  expect({ files: files.length < 15, bytes: bytes < 400_000 }).toEqual({ files: true, bytes: true });
});

test("tools that were chosen since, by a flag, a variable or in the settings, are the list, and the kept one is not", async () => {
  const { start, markKept, writeSettings } = createPerson();
  await start();
  markKept();
  for (const chosen of [{ flags: ["--tools", "fs"] }, { variables: { OCTANT_TOOLS: "fs" } }]) {
    const first = await start(chosen);
    expect(toolNames(first)).toEqual(["fs"]);
    expect(await start(chosen)).toBe(first);
  }
  writeSettings({ tools: ["fs"] });
  expect(toolNames(await start())).toEqual(["fs"]);
});

test("a changed or removed setting applies from the next start on", async () => {
  const { start, markKept, writeSettings } = createPerson();
  const everything = await start();
  expect(everything).toContain('"apply_patch"');
  markKept();
  writeSettings({ mode: "inspect" });
  const looking = await start();
  expect(looking).toContain('"fs"');
  expect(looking).not.toContain('"apply_patch"');
  markKept();
  writeSettings({});
  expect(await start()).toBe(everything);
});

test("the cache of another install is not used", async () => {
  const { start, markKept } = createPerson();
  const first = await start();
  markKept();
  reinstall();
  expect(await start()).toBe(first);
});

/** Replaces the files by identical copies. */
function reinstall(): void {
  const dist = join(dirname(launcher), "../dist");
  cpSync(dist, `${dist}-new`, { recursive: true });
  rmSync(dist, { recursive: true });
  renameSync(`${dist}-new`, dist);
}
