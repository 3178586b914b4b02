import { ToolError } from "@octant/core";
import type { Config, Origin, ServerSettings } from "@octant/runtime";
import type { Machine } from "../setup/places.ts";
import { type FoundServer, findServers } from "./import-servers.ts";

export interface ConfiguredServer {
  readonly name: string;
  /** The protocol of its address, or "program". */
  readonly kind: string;
  readonly target: string;
  readonly tier: Origin["tier"];
  readonly disabled: boolean;
}

/** The MCP servers of the settings, without arguments, variables, headers and queries, which may contain secrets. */
export const listServers = ({ settings, origins }: Config): readonly ConfiguredServer[] =>
  Object.entries(settings.mcp_servers).map(([name, server]) => ({
    name,
    kind: "url" in server ? new URL(server.url).protocol.slice(0, -1) : "program",
    target: targetOf(server),
    tier: origins.get(`mcp_servers.${name}`)?.tier ?? "user",
    disabled: server.disabled,
  }));

/** The address or program of a server, safe to show. */
export function targetOf({ url, command }: Pick<ServerSettings, "url" | "command">): string {
  if (url === undefined) return [command].flat()[0] ?? "";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The settings of a server; throws NOT_FOUND when there is none of this name. */
export function serverNamed(
  name: string,
  { mcp_servers: servers }: Pick<Config["settings"], "mcp_servers">,
): Config["settings"]["mcp_servers"][string] {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return server;
  const message = `there is no MCP server '${name}'; octant mcp list shows the configured servers`;
  throw new ToolError("NOT_FOUND", message, {});
}

/** The servers of other programs whose names are not taken yet, and how many were found in all. */
export function findNewServers(
  machine: Machine,
  { mcp_servers: known }: Pick<Config["settings"], "mcp_servers">,
  from?: readonly string[],
): { readonly found: number; readonly fresh: readonly FoundServer[] } {
  const found = findServers(machine, from);
  const fresh = found.filter(
    ({ name }, at) => !Object.hasOwn(known, name) && found.findIndex((one) => one.name === name) === at,
  );
  return { found: found.length, fresh };
}
