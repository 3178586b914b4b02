import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { LAUNCHER } from "./published-command.ts";

const WORKSPACE_FOLDER = `$\{workspaceFolder}`;
const ANSWERS = ["--answers", "text"];
const COMMAND = { command: process.execPath, args: [LAUNCHER, "serve", ...ANSWERS] };
const rooted = (root: string) => ({
  command: COMMAND.command,
  args: [LAUNCHER, "serve", "--root", root, ...ANSWERS],
});

/** One compile cache serves all tests, though each has its own home. */
const cache = mkdtempSync(join(tmpdir(), "octant-cache-"));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

let project: FixtureProject;
let home: string;
beforeEach(() => {
  project = createFixtureProject();
  home = project.env["HOME"] ?? "";
  symlinkSync(cache, join(home, ".cache"));
});
afterEach(() => project[Symbol.dispose]());

const run = (...args: string[]) => callOctant(["setup", ...args], { cwd: project.root, env: project.env });

function put(path: string, text: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const read = (path: string) => readFileSync(path, "utf8");
const rowsOf = (stdout: string): Record<string, unknown>[] => JSON.parse(stdout);

test("all clients are registered and tested, a second run finds nothing to do, and --remove removes it", async () => {
  const names = "claude-code claude-desktop cursor vscode codex gemini zed opencode windsurf".split(" ");
  const { code, stdout } = await run(...names, "--yes", "--json");
  expect(code).toBe(0);
  const rows = rowsOf(stdout);
  expect(rows.map(({ client }) => client)).toEqual(names);
  for (const row of rows)
    expect(row).toMatchObject({ status: "added", tools: expect.arrayContaining(["fs"]) });

  const inProject = rooted(WORKSPACE_FOLDER);
  const inFolder = rooted(project.root);
  const written = Object.fromEntries(
    rows
      .filter(({ client }) => client !== "codex")
      .map(({ client, file }) => [client, JSON.parse(read(String(file)))]),
  );
  expect(written).toEqual({
    "claude-code": { mcpServers: { octant: { type: "stdio", ...COMMAND } } },
    "claude-desktop": { mcpServers: { octant: inFolder } },
    cursor: { mcpServers: { octant: { type: "stdio", ...inProject } } },
    vscode: { servers: { octant: { type: "stdio", ...inProject } } },
    gemini: { mcpServers: { octant: COMMAND } },
    zed: { context_servers: { octant: COMMAND } },
    opencode: { mcp: { octant: { type: "local", command: [COMMAND.command, ...COMMAND.args] } } },
    windsurf: { mcpServers: { octant: inFolder } },
  });
  expect(read(join(home, ".codex/config.toml"))).toBe(
    `[mcp_servers.octant]\ncommand = "${COMMAND.command}"\nargs = ["${LAUNCHER}", "serve", "--answers", "text", "--permissions", "enforce"]\ndefault_tools_approval_mode = "approve"\n`,
  );

  // By now all of them are found.
  const again = await run("--yes", "--json");
  expect(rowsOf(again.stdout).map(({ status }) => status)).toEqual(names.map(() => "unchanged"));
  const removed = await run("--remove", "--yes", "--json");
  expect(rowsOf(removed.stdout).map(({ status }) => status)).toEqual(names.map(() => "removed"));
  expect(JSON.parse(read(join(home, ".cursor/mcp.json")))).toEqual({ mcpServers: {} });
  expect(read(join(home, ".codex/config.toml"))).toBe("");
});

test("only the entry changes: comments, order, link and mode stay, and other secrets are not shown", async () => {
  const before =
    '{\n  // mine\n  "theme": "dark",\n  "mcpServers": {\n    "a": { "env": { "API_KEY": "hunter2hunter2" } }, // work\n  },\n}\n';
  const file = put("dotfiles/gemini.json", before);
  chmodSync(file, 0o600);
  mkdirSync(join(home, ".gemini"));
  symlinkSync("../dotfiles/gemini.json", join(home, ".gemini/settings.json"));
  const { code, stdout } = await run("--yes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/Gemini CLI: add octant to .*\n {2}@@.*\n[\s\S]*\n {2}\+ +"octant": \{/);
  expect(stdout).not.toContain("hunter2");
  const after = read(file);
  expect(after).toContain('"theme": "dark"');
  expect(after).toContain('\n    "a": { "env": { "API_KEY": "hunter2hunter2" } }, // work\n');
  const [backup = ""] = readdirSync(join(home, ".gemini")).filter((name) => name.endsWith(".bak"));
  expect(read(join(home, ".gemini", backup))).toBe(before);

  await run("gemini", "--remove", "--yes");
  expect(read(file)).toBe(before);
});

test("the person's flags and fields survive, and --root replaces only the roots", async () => {
  const octant = {
    command: "old",
    args: ["octant.js", "serve", "--mode", "inspect", "--root", "/a"],
    disabled: false,
  };
  const file = put(".cursor/mcp.json", JSON.stringify({ mcpServers: { octant } }));
  const { code } = await run("cursor", "--root", "src", "--yes");
  expect(code).toBe(0);
  const args = [LAUNCHER, "serve", "--mode", "inspect", "--root", join(project.root, "src"), ...ANSWERS];
  expect(JSON.parse(read(file)).mcpServers.octant).toEqual({
    type: "stdio",
    command: process.execPath,
    args,
    disabled: false,
  });
});

test("an invalid file is left alone, with the position of the error", async () => {
  const file = put(".cursor/mcp.json", '{\n  "mcpServers": {,}\n}');
  const { code, stdout } = await run("cursor", "--yes");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Cursor: .*mcp\.json is left alone: line 2, column \d+: /);
  expect(read(file)).toBe('{\n  "mcpServers": {,}\n}');
  expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
});

test("when the server does not start, the change is reverted and the reason reported", async () => {
  const before = JSON.stringify({
    mcpServers: { octant: { env: { NODE_OPTIONS: "--import=/nowhere.js" } } },
  });
  const file = put(".cursor/mcp.json", before);
  const { code, stdout } = await run("cursor", "--yes");
  expect(code).toBe(1);
  expect(stdout).toMatch(/Cursor: the change was reverted: the server does not work: .*nowhere\.js/);
  expect(read(file)).toBe(before);
  expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
});

test("without a terminal and without --yes nothing is written", async () => {
  const { code, stdout, stderr } = await run("cursor");
  expect(code).toBe(2);
  expect(stdout).toContain('"octant": {');
  expect(stderr).toMatch(/no terminal to confirm on\nhint: --yes writes it\n$/);
  expect(existsSync(join(home, ".cursor"))).toBe(false);
  const planned = await run("cursor", "--json");
  expect(rowsOf(planned.stdout)).toMatchObject([
    { client: "cursor", status: "planned", diff: expect.any(String) },
  ]);
});

/** On a terminal, with this answer to the question. */
async function answer(line: string): Promise<{ exitCode: number; output: string }> {
  const terminal = spawn(process.execPath, [LAUNCHER, "setup", "cursor"], {
    cwd: project.root,
    env: project.env,
    cols: 200,
  });
  let output = "";
  terminal.onData((data) => {
    if (!output.includes("[y/N]") && (output + data).includes("[y/N]")) terminal.write(line);
    output += data;
  });
  return new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve({ exitCode, output })));
}

test.each(["n\r", "\r", "\x04"])("on a terminal it asks, and %j writes nothing", async (line) => {
  expect(await answer(line)).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining("nothing was written"),
  });
  expect(existsSync(join(home, ".cursor"))).toBe(false);
});

test("on a terminal it asks, and y writes", async () => {
  expect(await answer("y\r")).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(home, ".cursor/mcp.json"))).toBe(true);
});

test("--scope project writes the project's files, but never through a link that leaves it", async () => {
  const { code, stdout } = await run("claude-code", "codex", "--scope", "project", "--yes", "--json");
  expect(code).toBe(0);
  expect(rowsOf(stdout).map(({ file }) => file)).toEqual([
    join(project.root, ".mcp.json"),
    join(project.root, ".codex/config.toml"),
  ]);
  // These files are shared: they name the published package, never a path on this machine.
  const shared = JSON.parse(read(join(project.root, ".mcp.json"))).mcpServers.octant;
  expect(shared).toEqual({ type: "stdio", command: "npx", args: ["-y", "@octant/cli", "serve", ...ANSWERS] });
  expect(read(join(project.root, ".codex/config.toml"))).not.toContain(dirname(project.root));
  expect(await run("zed", "--scope", "project", "--root", "..", "--yes")).toMatchObject({ code: 2 });
  const outside = put("settings.json", "{}");
  mkdirSync(join(project.root, ".zed"));
  symlinkSync(outside, join(project.root, ".zed/settings.json"));
  const linked = await run("zed", "--scope", "project", "--yes");
  expect(linked.code).toBe(1);
  expect(linked.stdout).toMatch(/left alone: it is a link to outside of the project/);
  expect(read(outside)).toBe("{}");
  expect(await run("windsurf", "--scope", "project")).toMatchObject({ code: 2 });
});

test("setup says what remains to be done in the client", async () => {
  const { stdout } = await run("gemini", "--yes");
  expect(stdout).toContain("Gemini CLI: still to do: Gemini CLI starts servers in trusted folders only");
});

test("--print shows what to paste and changes nothing", async () => {
  put(".codex/config.toml", "broken");
  const { code, stdout } = await run("codex", "zed", "--print");
  expect(code).toBe(0);
  expect(stdout).toContain(`${join(home, ".codex/config.toml")}\n  [mcp_servers.octant]\n  command = `);
  expect(stdout).toContain('"context_servers": {');
  expect(read(join(home, ".codex/config.toml"))).toBe("broken");
});

test("no client, and an unknown one, are reported with the known ones", async () => {
  const env = { ...project.env, PATH: dirname(process.execPath) };
  const none = await callOctant(["setup"], { cwd: project.root, env });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/no client was found.*\n.*cursor/) });
  const printed = await callOctant(["setup", "--print"], { cwd: project.root, env });
  expect(printed.code).toBe(0);
  expect(printed.stdout).toMatch(/^No client was found[\s\S]*"mcpServers"[\s\S]*"serve"[\s\S]*cursor/);
  const unknown = await run("emacs");
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/unknown client 'emacs'\n.*claude-code/),
  });
});

test.each([
  ['default_tools_approval_mode = "prompt"', 'args = ["x", "serve"]'],
  ["enabled = true", 'args = ["x", "serve", "--permissions", "host"]'],
])("who approves the calls of Codex stays as the person chose it (%s, %s)", async (field, args) => {
  put(".codex/config.toml", `[mcp_servers.octant]\ncommand = "x"\n${args}\n${field}\n`);
  expect(await run("codex", "--yes")).toMatchObject({ code: 0 });
  const written = read(join(home, ".codex/config.toml"));
  expect(written).toContain(field);
  expect(written).not.toMatch(/enforce|"approve"/);
});
