// Drives the command's ui tool over MCP stdio, as a client does.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { sharedCompileCache } from "../compile-cache.ts";
import { LAUNCHER } from "../published-command.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at as JSON.
export type Json = any;

export interface UiClient extends AsyncDisposable {
  readonly root: string;
  readonly pid: number;
  /** The data of an answer; throws its error. */
  call(tool: string, action: string, input?: object): Promise<Json>;
  ui(action: string, input?: object): Promise<Json>;
  /** The whole MCP answer. */
  raw(tool: string, args: object): Promise<Json>;
  /** The code and message of an error. */
  fails(action: string, input?: object): Promise<{ code: string; message: string; details: Json }>;
}

export interface UiClientOptions {
  readonly launcher?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of the user. */
  readonly settings?: object;
}

export async function openUi({
  launcher = LAUNCHER,
  args = [],
  env = {},
  settings,
}: UiClientOptions = {}): Promise<UiClient> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-ui-")));
  const root = join(base, "project");
  mkdirSync(root);
  if (settings) {
    mkdirSync(join(base, ".config/hanzo"), { recursive: true });
    writeFileSync(join(base, ".config/hanzo/settings.json"), JSON.stringify(settings));
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [launcher, "serve", "--root", root, ...args],
    env: {
      ...sharedCompileCache(),
      PATH: process.env["PATH"] ?? "",
      HOME: base,
      XDG_STATE_HOME: join(base, "state"),
      ...env,
    },
    stderr: "inherit",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const raw = (tool: string, given: object): Promise<Json> =>
    client.callTool({ name: tool, arguments: { ...given } }, { timeout: 120_000 });
  const envelope = async (tool: string, action: string, input: object): Promise<Json> =>
    (await raw(tool, { action, ...input })).structuredContent;
  const call: UiClient["call"] = async (tool, action, input = {}) => {
    const { ok, data, error } = await envelope(tool, action, input);
    if (ok) return data;
    throw new Error(`${tool}.${action}: ${error.code}: ${error.message}`);
  };
  return {
    root,
    pid: transport.pid ?? 0,
    call,
    ui: (action, input) => call("ui", action, input),
    raw,
    async fails(action, input = {}) {
      const { ok, error } = await envelope("ui", action, input);
      if (ok) throw new Error(`ui.${action} should have failed`);
      return error;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
