import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CLIENTS } from "./clients.ts";
import { fileOf, isInstalled, type Machine } from "./places.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-places-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const clientOf = (id: string) => CLIENTS.find((client) => client.id === id)!;
const linux: Machine = { platform: "linux", env: {}, home: "/home/me", cwd: "/work/demo" };
const darwin: Machine = { ...linux, platform: "darwin", home: "/Users/me" };
const windows: Machine = {
  platform: "win32",
  env: { APPDATA: "C:\\Users\\me\\AppData\\Roaming" },
  home: "C:\\Users\\me",
  cwd: "D:\\demo",
};

test.each([
  ["claude-code", "/home/me/.claude.json", "/Users/me/.claude.json", "C:\\Users\\me\\.claude.json"],
  [
    "claude-desktop",
    "/home/me/.config/Claude/claude_desktop_config.json",
    "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
    "C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
  ],
  ["cursor", "/home/me/.cursor/mcp.json", "/Users/me/.cursor/mcp.json", "C:\\Users\\me\\.cursor\\mcp.json"],
  [
    "vscode",
    "/home/me/.config/Code/User/mcp.json",
    "/Users/me/Library/Application Support/Code/User/mcp.json",
    "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json",
  ],
  [
    "codex",
    "/home/me/.codex/config.toml",
    "/Users/me/.codex/config.toml",
    "C:\\Users\\me\\.codex\\config.toml",
  ],
  [
    "gemini",
    "/home/me/.gemini/settings.json",
    "/Users/me/.gemini/settings.json",
    "C:\\Users\\me\\.gemini\\settings.json",
  ],
  [
    "zed",
    "/home/me/.config/zed/settings.json",
    "/Users/me/.config/zed/settings.json",
    "C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json",
  ],
  [
    "opencode",
    "/home/me/.config/opencode/opencode.json",
    "/Users/me/.config/opencode/opencode.json",
    "C:\\Users\\me\\.config\\opencode\\opencode.json",
  ],
  [
    "windsurf",
    "/home/me/.codeium/windsurf/mcp_config.json",
    "/Users/me/.codeium/windsurf/mcp_config.json",
    "C:\\Users\\me\\.codeium\\windsurf\\mcp_config.json",
  ],
])("the file of %s is known on all three platforms", (id, onLinux, onMac, onWindows) => {
  const files = [linux, darwin, windows].map((machine) => fileOf(clientOf(id), "user", machine));
  expect(files).toEqual([onLinux, onMac, onWindows]);
});

test("relocated folders are followed", () => {
  const env = { XDG_CONFIG_HOME: "/conf", CODEX_HOME: "/codex", CLAUDE_CONFIG_DIR: "/claude" };
  const files = ["vscode", "codex", "claude-code"].map((id) =>
    fileOf(clientOf(id), "user", { ...linux, env }),
  );
  expect(files).toEqual(["/conf/Code/User/mcp.json", "/codex/config.toml", "/claude/.claude.json"]);
});

test("of two possible names for a file the existing one counts", () => {
  const cwd = join(base, "project");
  mkdirSync(cwd);
  expect(fileOf(clientOf("opencode"), "project", { ...linux, cwd })).toBe(join(cwd, "opencode.json"));
  writeFileSync(join(cwd, "opencode.jsonc"), "{}");
  expect(fileOf(clientOf("opencode"), "project", { ...linux, cwd })).toBe(join(cwd, "opencode.jsonc"));
});

test("a client without project files has none there", () => {
  const without = CLIENTS.filter((client) => fileOf(client, "project", linux) === undefined);
  expect(without.map(({ id }) => id)).toEqual(["claude-desktop", "windsurf"]);
});

test("a client is found by its folder or its program", () => {
  const home = join(base, "home");
  const bin = join(base, "bin");
  mkdirSync(join(home, ".gemini"), { recursive: true });
  mkdirSync(bin);
  writeFileSync(join(bin, "codex"), "");
  const machine: Machine = { ...linux, home, env: { PATH: `${join(base, "nowhere")}:${bin}` } };
  expect(CLIENTS.filter((client) => isInstalled(client, machine)).map(({ id }) => id)).toEqual([
    "codex",
    "gemini",
  ]);
});
