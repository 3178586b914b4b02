import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOctant } from "../octant.ts";
import { checkClients } from "./check-clients.ts";
import { CLIENTS } from "./clients.ts";
import { thisMachine } from "./places.ts";

const LAUNCHER = join(import.meta.dirname, "../../../cli/bin/octant.js");
const OURS = { command: process.execPath, args: [LAUNCHER, "serve"] };
/** The built command starts six times as fast as the sources. */
const BUILT = join(process.env["OCTANT_TEST_COMMAND"] ?? "", "node_modules/@octant/cli/bin/octant.js");

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-clients-")));
  mkdirSync(join(base, "project"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const machine = () => thisMachine({ HOME: base, PATH: dirname(process.execPath) }, join(base, "project"));
const install = { launcher: LAUNCHER, node: process.execPath };
const detailsOf = async () =>
  Object.fromEntries(
    (await checkClients(machine(), install)).map(({ name, status, detail }) => [
      name,
      `${status}: ${detail}`,
    ]),
  );

test("each client has a line, and a working entry has its tools counted", async () => {
  put(".cursor/mcp.json", JSON.stringify({ mcpServers: { octant: { ...OURS, args: [BUILT, "serve"] } } }));
  put(
    ".codex/config.toml",
    `[mcp_servers.octant]\ncommand = "${OURS.command}"\nargs = ["${BUILT}", "serve"]\n`,
  );
  mkdirSync(join(base, ".gemini"));
  const details = await detailsOf();
  expect(Object.keys(details)).toHaveLength(CLIENTS.length);
  expect(details["client: Cursor"]).toMatch(/^ok: registered in .*mcp\.json, \d+ tools$/);
  expect(details["client: Codex"]).toMatch(/^ok: registered in .*config\.toml, \d+ tools$/);
  expect(details["client: Gemini CLI"]).toBe("ok: not registered; npx -y @octant/cli setup gemini does it");
  expect(details["client: Zed"]).toBe("ok: not installed");
});

test("an entry that no longer starts fails, and an unreadable one is reported with its position", async () => {
  put(
    ".cursor/mcp.json",
    JSON.stringify({ mcpServers: { octant: { command: "/gone/node", args: ["serve"] } } }),
  );
  put(".gemini/settings.json", '{\n  "mcpServers": oops\n}');
  const details = await detailsOf();
  expect(details["client: Cursor"]).toMatch(
    /^fail: .*cannot be started.*; (octant|npx -y @octant\/cli) setup cursor repairs it$/,
  );
  expect(details["client: Gemini CLI"]).toMatch(/^warn: .*settings\.json:2:17: /);
});

test("an entry for a remote server says whether it responds, and shows no token", async () => {
  const env = { HOME: base, PATH: process.env["PATH"] ?? "" };
  await using octant = createOctant({ projectPath: join(base, "project"), env });
  const server = await octant.serveHttp();
  const { url } = server;
  const entry = (given: string) =>
    JSON.stringify({ mcpServers: { octant: { url: `${given}?token=secret` } } });
  put(".cursor/mcp.json", entry(url));
  put(".codex/config.toml", `[mcp_servers.octant]\nurl = "https://octant.example/mcp"\n`);
  put("project/.cursor/mcp.json", entry(url));
  const details = await detailsOf();
  expect(details["client: Cursor"]).toMatch(/^ok: registered in .*mcp\.json, at .*\/mcp, which answers$/);
  expect(details["client: Codex"]).toMatch(/at https:\/\/octant\.example\/mcp; not tried$/);
  expect(details["client: Cursor in this project"]).toMatch(/; not tried$/);
  await server.close();
  const later = (await detailsOf())["client: Cursor"];
  expect(later).toMatch(
    /^warn: .* no server answers; (octant|npx -y @octant\/cli) serve --http --port \d+ starts one there$/,
  );
  expect(`${Object.values(details)} ${later}`).not.toContain("secret");
});

test("a program in a project's file is not started, not even with the environment it asks for", async () => {
  const proof = join(base, "proof");
  const script = `require('fs').writeFileSync(${JSON.stringify(proof)}, '')`;
  const code = `data:text/javascript,${encodeURIComponent(`import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(proof)}, "")`)}`;
  put(
    "project/.mcp.json",
    JSON.stringify({ mcpServers: { octant: { command: process.execPath, args: ["-e", script, "serve"] } } }),
  );
  put(
    "project/.cursor/mcp.json",
    JSON.stringify({ mcpServers: { octant: { ...OURS, env: { NODE_OPTIONS: `--import=${code}` } } } }),
  );
  const details = await detailsOf();
  expect(details["client: Claude Code in this project"]).toMatch(/^warn: .*starts something else/);
  expect(details["client: Cursor in this project"]).toMatch(/^ok: /);
  expect(existsSync(proof)).toBe(false);
});
