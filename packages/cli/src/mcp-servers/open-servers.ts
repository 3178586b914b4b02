import { pathToUri } from "@octant/host";
import {
  createMcpServers,
  createStoredProvider,
  type McpServers,
  type McpServersOptions,
  type ServerDefinition,
} from "@octant/mcp";
import { createCredentialStore, type EffectiveSettings } from "@octant/runtime";
import type { Octant } from "../octant.ts";
import { loadVersion } from "../version.ts";
import { createOAuthStorage } from "./oauth-storage.ts";
import { startProgram } from "./start-program.ts";
import { createToolConsent } from "./tool-consent.ts";

export interface OpenServersOptions extends Partial<Pick<McpServersOptions, "elicit" | "connectMs">> {
  readonly octant: Pick<Octant, "workspace" | "config">;
  readonly env: NodeJS.ProcessEnv;
  /** Only these servers; every enabled one when absent. */
  readonly only?: readonly string[];
  /** In addition to those of the settings. */
  readonly more?: Readonly<Record<string, ServerDefinition>>;
  log(line: string): void;
}

/** The MCP servers of the person's settings. They start in parallel, in the background. */
export function openServers({ octant, env, only, more, log, ...rest }: OpenServersOptions): McpServers {
  const { workspace, config } = octant;
  const credentials = createCredentialStore({ env });
  return createMcpServers({
    ...rest,
    servers: { ...chooseServers(config.settings.mcp_servers, only), ...more },
    version: loadVersion(),
    roots: workspace.confinement.roots.map(pathToUri),
    start: (server, definition) => startProgram(workspace, env, server, definition),
    auth: (server, url) => createStoredProvider(createOAuthStorage(credentials, server, url)),
    consent: createToolConsent(workspace.state.base),
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
