import { isAbsolute, relative } from "node:path";
import { MODE_NAMES, MODES } from "@octant/core";
import { SANDBOX_LEVELS, SANDBOX_MODES, type SandboxSettings } from "@octant/host";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createProject } from "../../testing/config/project.ts";
import type { Config } from "./config.ts";
import { DEFAULT_TOOLS } from "./defaults.ts";

const some = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 });
const partly = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(shape, { requiredKeys: [] });

const HOSTS = [
  "a.example",
  "*.example",
  "b.a.example:443",
  "a.example:80",
  "localhost:9",
  "a.example:9",
  "127.0.0.1:9",
  "[::1]:1",
];
const PATHS = ["/", "/data", "/data/x", "/data-x", ".", "src", "..", "/etc/../data", "src/../../other"];
const TOOLS = ["fs", "proc", "net", "memory", "hanzo"];
const PATTERNS = ["*", "fs.*", "fs.read", "mcp__a", "__proto__"];

const host = fc.constantFrom(...HOSTS);
const server = fc.oneof(
  fc.record({ command: fc.constantFrom("x", "y"), disabled: fc.boolean() }),
  fc.record({ url: fc.constant("https://a.example") }),
  fc.record({ disabled: fc.boolean() }),
);
const settings = partly({
  model: fc.constantFrom("m", "n"),
  api_key: fc.constantFrom("k1", "k2"),
  base_url: fc.constantFrom("https://a.example", "https://b.example"),
  permissions: some(
    fc.record({
      tool_pattern: fc.constantFrom(...PATTERNS),
      mode: fc.constantFrom("allow", "deny", "prompt"),
    }),
  ),
  hooks: some(
    fc.record({
      event: fc.constant("pre_tool_use"),
      tool_pattern: fc.constant("*"),
      command: fc.constantFrom("one", "two"),
    }),
  ),
  mcp_servers: fc.dictionary(fc.constantFrom("a", "b", "constructor"), server, { maxKeys: 3 }),
  sandbox: partly({
    mode: fc.constantFrom(...SANDBOX_MODES),
    allowed_paths: some(fc.constantFrom(...PATHS)),
    network: fc.oneof(fc.constantFrom("on", "off", "loopback"), some(host)),
    hide_home: fc.boolean(),
    require: fc.constantFrom(...SANDBOX_LEVELS),
    memory_bytes: fc.integer({ min: 1, max: 9 }),
    max_processes: fc.integer({ min: 1, max: 9 }),
  }),
  env: fc.dictionary(fc.constantFrom("A", "B", "__proto__"), fc.constantFrom("1", "2")),
  audit: partly({ arguments: fc.constantFrom("hash", "full"), keep_bytes: fc.integer({ min: 1, max: 9 }) }),
  net: partly({ allow: some(host), deny: some(host), private: fc.boolean() }),
  vcs: partly({ filters: some(fc.constant("lfs")), hooks: fc.boolean() }),
  language_servers: fc.dictionary(fc.constantFrom("ts", "go"), fc.record({ command: fc.constant(["x"]) })),
  search: partly({
    embedder: fc.constant({ kind: "ollama", url: "http://a.example", model: "m" }),
    vector_store: fc.constantFrom("embedded", "lancedb"),
  }),
  tools: some(fc.constantFrom(...TOOLS)),
  mode: fc.constantFrom(...MODE_NAMES),
});

test("whatever an untrusted project says, nothing is wider than with the user's settings alone", () => {
  using project = createProject();
  fc.assert(
    fc.property(settings, settings, settings, (user, inProject, inLocal) => {
      project.write("user", JSON.stringify(user));
      project.write("project", "{}");
      project.write("local", "{}");
      const alone = project.load();
      project.write("project", JSON.stringify(inProject));
      project.write("local", JSON.stringify(inLocal));
      expectNotWider(project.load(), alone, project.root);
    }),
    { numRuns: 150 },
  );
});

function expectNotWider(config: Config, alone: Config, root: string): void {
  const { settings: now } = config;
  const { settings: was } = alone;
  for (const key of [
    "api_key",
    "base_url",
    "oauth_credentials",
    "hooks",
    "env",
    "audit",
    "vcs",
    "language_servers",
    "search",
  ] as const)
    expect(now[key], key).toEqual(was[key]);
  expect(config.permissions.filter(({ tier }) => tier === "user")).toEqual(alone.permissions);
  for (const { tier, rules } of config.permissions)
    if (tier !== "user") expect(rules.map(({ mode }) => mode)).not.toContain("allow");
  for (const [name, { disabled, ...server }] of Object.entries(now.mcp_servers)) {
    const { disabled: wasDisabled, ...same } = was.mcp_servers[name] ?? { disabled: true };
    expect(server).toEqual(same);
    expect(disabled || !wasDisabled).toBe(true);
  }
  expect(now.net.allow).toEqual(was.net.allow);
  expect(now.net.deny).toEqual(expect.arrayContaining([...was.net.deny]));
  expect(now.net.private && !was.net.private).toBe(false);
  const offered: readonly string[] = was.tools ?? DEFAULT_TOOLS;
  for (const tool of now.tools ?? []) expect(offered).toContain(tool);
  expect(now.tools === null && was.tools !== null).toBe(false);
  const intents = (mode: Config["settings"]["mode"]): readonly string[] => MODES[mode ?? "inspect"].intents;
  const unasked = MODES[now.mode ?? "ask"].unasked;
  for (const kind of unasked) expect(MODES[was.mode ?? "ask"].unasked).toContain(kind);
  if (was.mode) for (const intent of intents(now.mode)) expect(intents(was.mode)).toContain(intent);
  expect(now.mode === null && was.mode !== null).toBe(false);
  expectStricter(now.sandbox, was.sandbox, root);
}

function expectStricter(now: SandboxSettings, was: SandboxSettings, root: string): void {
  expect(SANDBOX_MODES.indexOf(now.mode)).toBeGreaterThanOrEqual(SANDBOX_MODES.indexOf(was.mode));
  for (const path of ["/etc", "/data", "/data/x/y", "/data-x", root, `${root}/src`, `${root}/../other`])
    if (canWrite(now, root, path)) expect(canWrite(was, root, path), `${path} can be written`).toBe(true);
  for (const [name, port] of [
    ["a.example", 443],
    ["a.example", 80],
    ["a.example", 9],
    ["b.a.example", 443],
    ["c.example", 1],
    ["localhost", 9],
    ["127.0.0.1", 9],
    ["other", 1],
  ] as const)
    if (canReach(now, name, port))
      expect(canReach(was, name, port), `${name}:${port} can be reached`).toBe(true);
  expect(was.hide_home && !now.hide_home).toBe(false);
  const level = (require: SandboxSettings["require"]) =>
    require ? SANDBOX_LEVELS.indexOf(require) : SANDBOX_LEVELS.length;
  expect(level(now.require)).toBeLessThanOrEqual(level(was.require));
  expect(now.memory_bytes ?? Infinity).toBeLessThanOrEqual(was.memory_bytes ?? Infinity);
  expect(now.max_processes ?? Infinity).toBeLessThanOrEqual(was.max_processes ?? Infinity);
}

/** Restated independently of the code under test. */
function canWrite({ mode, allowed_paths }: SandboxSettings, root: string, path: string): boolean {
  if (mode === "off") return true;
  const folders = mode === "workspace" ? [root, ...allowed_paths] : allowed_paths;
  return folders.some((folder) => {
    const way = relative(folder, path);
    return !isAbsolute(way) && way.split("/")[0] !== "..";
  });
}

function canReach({ network }: SandboxSettings, name: string, port: number): boolean {
  if (network === "on" || network === "off") return network === "on";
  if (network === "loopback") return name === "localhost" || name.startsWith("127.");
  return network.some((rule) => {
    const [host = "", only] = rule.split(":");
    const isHost = host.startsWith("*.") ? name.endsWith(host.slice(1)) : host === name;
    return isHost && (only === undefined ? port === 80 || port === 443 : Number(only) === port);
  });
}
