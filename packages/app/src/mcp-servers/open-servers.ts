import { readFileSync } from "node:fs";
import { join } from "node:path";
import { refuseNewer, ToolError } from "@octant/core";
import { createLock, pathToUri, replaceFile } from "@octant/host";
import {
  createMcpServers,
  createStoredProvider,
  type McpServers,
  type McpServersOptions,
  type OAuthStorage,
  type ProgramDefinition,
  type ServerDefinition,
  type ToolConsent,
} from "@octant/mcp-client";
import { type CredentialStore, createCredentialStore, type EffectiveSettings } from "@octant/runtime";
import { z } from "zod";
import type { Octant } from "../octant.ts";
import { loadVersion } from "../version.ts";
import { startProgram } from "./start-program.ts";

export interface OpenServersOptions
  extends Partial<Pick<McpServersOptions, "elicit" | "connectMs" | "onFailed">> {
  readonly octant: Pick<Octant, "workspace" | "config">;
  readonly env: NodeJS.ProcessEnv;
  /** Only these servers; every enabled one when absent. */
  readonly only?: readonly string[];
  /** In addition to those of the settings. */
  readonly more?: Readonly<Record<string, ServerDefinition>>;
  /** Runs the programs of `more`; the servers of the person's settings are then not used. */
  readonly elsewhere?: McpServersOptions["start"] | undefined;
  /** The front end says itself that no sandbox confines programs. */
  readonly tellsUnconfined?: boolean | undefined;
  log(line: string): void;
}

/** The MCP servers of the person's settings. They start in parallel, in the background. */
export function openServers(options: OpenServersOptions): McpServers {
  const { octant, env, only, more, elsewhere, tellsUnconfined, log, ...rest } = options;
  const { workspace, config } = octant;
  const credentials = createCredentialStore({ env });
  let isTold = tellsUnconfined ?? false;
  const start = async (definition: ProgramDefinition) => {
    const found = await workspace.sandbox.unconfined();
    if (found && found.by === undefined && !isTold) log(`MCP servers are not confined: ${found.reason}`);
    isTold ||= found !== undefined;
    return startProgram(workspace, env, definition);
  };
  return createMcpServers({
    ...rest,
    servers: { ...(elsewhere ? {} : chooseServers(config.settings.mcp_servers, only)), ...more },
    version: loadVersion(),
    roots: workspace.confinement.roots.map(pathToUri),
    start: elsewhere ?? ((_server, definition) => start(definition)),
    auth: (server, url) => createStoredProvider(createOAuthStorage(credentials, server, url)),
    consent: elsewhere ? createSessionConsent() : createToolConsent(workspace.state.base),
    log,
  });
}

const chooseServers = (
  servers: EffectiveSettings["mcp_servers"],
  only: readonly string[] | undefined,
): Record<string, ServerDefinition> =>
  Object.fromEntries(
    Object.entries(servers).filter(([name, { disabled }]) => (only ? only.includes(name) : !disabled)),
  );

export const credentialName = (server: string): string => `mcp:${server}`;

/** The sign-in of one server in the credential store. It is valid only for the address it was made for. */
export const createOAuthStorage = (store: CredentialStore, server: string, url: string): OAuthStorage => ({
  load() {
    const found = store.load()[credentialName(server)];
    return found?.kind === "mcp" && found.url === url ? found.data : undefined;
  },
  async save(data) {
    await store.change(credentialName(server), () => ({ kind: "mcp", url, data }));
  },
});

/** The file may be written by hand or by another version. */
const Known = z.record(z.string(), z.record(z.string(), z.string()));
type Known = z.output<typeof Known>;
const VERSION = 1;

/** Stores the hashes of the tool definitions that the person has approved, for all workspaces. */
function createToolConsent(folder: string): ToolConsent {
  const file = join(folder, "mcp-tools.json");
  let known = read(file);
  return {
    known: (server, tool) => (Object.hasOwn(known, server) ? known[server]?.[tool] : undefined),
    async remember(server, tools) {
      if (tools.length === 0) return;
      const lock = createLock(`${file}.lock`, { doing: "remembering tools", place: "the state folder" });
      try {
        await lock.hold(async () => {
          const now = read(file);
          const own = Object.fromEntries(tools.map(({ tool, hash }) => [tool, hash]));
          now[server] = { ...(Object.hasOwn(now, server) ? now[server] : {}), ...own };
          replaceFile(file, `${JSON.stringify({ version: VERSION, servers: now }, null, 2)}\n`, {
            mode: 0o600,
          });
          known = now;
        });
      } finally {
        await lock.close();
      }
    },
  };
}

/** A tool may not change while the session lasts; nobody has seen it before. */
function createSessionConsent(): ToolConsent {
  const known = new Map<string, string>();
  const keyOf = (server: string, tool: string) => `${server} ${tool}`;
  return {
    known: (server, tool) => known.get(keyOf(server, tool)),
    async remember(server, tools) {
      for (const { tool, hash } of tools) known.set(keyOf(server, tool), hash);
    },
  };
}

function read(file: string): Known {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, "utf8"));
    const { version, servers } = Object(stored);
    refuseNewer(version, VERSION, file);
    // The first files had no version around the servers.
    return Known.parse(typeof version === "number" ? servers : stored);
  } catch (cause) {
    if (Object(cause).code === "ENOENT") return {};
    if (cause instanceof ToolError) throw cause;
    // Without it a changed tool would count as a new one.
    const message = `${file} is damaged; remove it and check the tools of your MCP servers: octant mcp test NAME`;
    throw new ToolError("IO_ERROR", message, {}, { cause });
  }
}
