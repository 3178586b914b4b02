import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "./load.ts";
import { trustFolder } from "./trust.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-foreign-")));
  mkdirSync(join(base, "home"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const env = () => ({ HOME: join(base, "home"), TOKEN: "t0ken" });
const variable = (name: string) => `\${${name}}`;
const load = () => loadConfig({ roots: [join(base, "ws")], env: env() });
function write(path: string, value: unknown): void {
  const file = join(base, "ws", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value, null, 1));
}

test("servers of .mcp.json wait for trust, then run with their variables filled in", async () => {
  write(".mcp.json", {
    mcpServers: {
      docs: { command: "docs", args: [variable("MODE:-fast")], env: { KEY: variable("TOKEN") } },
      far: {
        type: "http",
        url: "https://far.example/mcp",
        headers: { Authorization: `Bearer ${variable("TOKEN")}` },
      },
      octant: { command: "octant", args: ["serve"] },
      bad: { command: 5 },
    },
  });
  const before = load();
  expect(before.settings.mcp_servers).toEqual({});
  expect(before.waiting).toMatchObject([
    { tier: "mcp", parts: [{ key: "mcp_servers.docs", line: 3 }, { key: "mcp_servers.far" }] },
  ]);
  expect(JSON.stringify(before.waiting)).not.toContain("t0ken");
  expect(before.waiting[0]?.parts[1]?.shown).toContain(`"variables":["${variable("TOKEN")}"]`);
  expect(before.warnings.join("\n")).toContain(".mcp.json: mcpServers.bad is ignored");
  await trustFolder(before.waiting, { env: env() });
  expect(load().settings.mcp_servers).toEqual({
    docs: { command: "docs", args: ["fast"], env: { KEY: "t0ken" }, disabled: false },
    far: { url: "https://far.example/mcp", headers: { Authorization: "Bearer t0ken" }, disabled: false },
  });
  write(".mcp.json", { mcpServers: { docs: { command: "other" } } });
  expect(load().settings.mcp_servers).toEqual({});
});

test("hooks of .claude/settings.json wait for trust; other kinds and events are named", async () => {
  write(".claude/settings.json", {
    permissions: { allow: ["Bash"] },
    hooks: {
      PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "check", timeout: 2 }] }],
      Stop: [{ hooks: [{ type: "prompt", prompt: "done?" }] }],
      WorktreeCreate: [{ hooks: [{ type: "command", command: "x" }] }],
    },
  });
  const before = load();
  expect(before.settings.hooks).toEqual([]);
  expect(before.permissions).toEqual([]);
  expect(before.warnings.filter((line) => line.includes("ignored"))).toEqual([
    ".claude/settings.json: hooks.Stop.0.hooks.0, hooks.WorktreeCreate.0.hooks.0 are ignored: Octant has nothing like it",
  ]);
  await trustFolder(before.waiting, { env: env() });
  expect(load().settings.hooks).toEqual([
    { event: "PreToolUse", matcher: "Bash", command: "check", timeout_ms: 2_000 },
  ]);
});

const CHANGES = expect.stringContaining("fs.apply_patch");

test.each([
  ["Read(.env)", { tool_pattern: "*", args: { path: ["**/.env", "**/.env/**"] } }],
  ["Read(./secrets/**)", { tool_pattern: "*", args: { path: ["secrets/**"] } }],
  ["Read(secrets/)", { tool_pattern: "*", args: { path: ["**/secrets", "**/secrets/**"] } }],
  ["Read(/config/keys)", { tool_pattern: "*", args: { path: ["config/keys", "config/keys/**"] } }],
  ["Read(~/.ssh/*)", { tool_pattern: "*", args: { path: ["~/.ssh/*", "~/.ssh/*/**"] } }],
  ["Read(//etc/shadow)", { tool_pattern: "*", args: { path: ["/etc/shadow", "/etc/shadow/**"] } }],
  ["Edit(dist/**)", { tool_pattern: CHANGES, args: { path: ["dist/**"] } }],
  ["Write", { tool_pattern: CHANGES }],
  ["Read", { tool_pattern: "fs.read" }],
  ["Bash(*)", { tool_pattern: "{proc.exec,proc.input}" }],
  ["Bash", { tool_pattern: "{proc.exec,proc.input}" }],
  ["Bash(git push:*)", { args: { command: ["git", "push"] } }],
  ["Bash(curl *)", { args: { command: ["curl"] } }],
  ["WebFetch(domain:*.example.com)", { args: { host: "*.example.com" } }],
  ["mcp__github__delete", { tool_pattern: "mcp__github__delete" }],
])("the rule %s of Claude Code denies and asks here without trust", (rule, expected) => {
  write(".claude/settings.json", { permissions: { deny: [rule], ask: [rule], allow: ["Bash"] } });
  const { permissions, warnings, waiting } = load();
  expect(permissions).toMatchObject([
    {
      tier: "claude",
      rules: [
        { ...expected, mode: "deny", reason: `denied by ${rule} in .claude/settings.json` },
        { ...expected, mode: "prompt" },
      ],
    },
  ]);
  expect([warnings, waiting]).toEqual([[], []]);
});

test("rules of Claude Code that mean nothing here are named, and too many are left out with a warning", () => {
  const strange = ["Bash(git * main)", "Bash(*)x", "WebFetch(x)", "KillShell", "constructor", "", 5, null];
  write(".claude/settings.json", { permissions: { deny: [...strange, "Read(.env)"] } });
  const { permissions, warnings } = load();
  expect(permissions.flatMap(({ rules }) => rules)).toHaveLength(1);
  expect(warnings).toHaveLength(strange.length);
  expect(warnings[0]).toBe(
    ".claude/settings.json: permissions.deny.0 is ignored: Octant has nothing like it",
  );
  const many = Array.from({ length: 200 }, (_, at) => `Read(file-${at}.txt)`);
  write(".claude/settings.json", { permissions: { deny: many } });
  expect(load()).toMatchObject({
    permissions: [],
    warnings: [expect.stringContaining("its permissions are ignored: they have more than")],
  });
});

test("a server that needs a variable which is not set is left out and named", async () => {
  write(".mcp.json", {
    mcpServers: { docs: { command: "docs", args: [variable("NOWHERE")] }, ok: { command: "ok" } },
  });
  await trustFolder(load().waiting, { env: env() });
  const { settings, warnings } = load();
  expect(Object.keys(settings.mcp_servers)).toEqual(["ok"]);
  expect(warnings).toEqual([
    ".mcp.json: mcpServers.docs is not started: NOWHERE is not set in the environment",
  ]);
});

test("a broken, linked or strange file of another agent has no effect, and nothing fails", () => {
  for (const text of ["{", "[]", '"x"', '{"mcpServers":[1]}', '{"hooks":{"Stop":{"x":1}}}', '{"hooks":[[]]}'])
    for (const path of [".mcp.json", ".claude/settings.json"]) {
      write(path, text);
      const { settings, waiting } = load();
      expect([settings.hooks, { ...settings.mcp_servers }, waiting], `${path} ${text}`).toEqual([[], {}, []]);
    }
  rmSync(join(base, "ws/.mcp.json"));
  writeFileSync(join(base, "elsewhere.json"), JSON.stringify({ mcpServers: { x: { command: "x" } } }));
  symlinkSync("../elsewhere.json", join(base, "ws/.mcp.json"));
  expect(load().waiting).toEqual([]);
});
