import { readFileSync } from "node:fs";
import { attempt } from "@octant/core";
import type { ServerSettings } from "@octant/runtime";
import { CLIENTS, type Client } from "../setup/clients.ts";
import { formatOf } from "../setup/entry.ts";
import { fileOf, type Machine } from "../setup/places.ts";

/** A server in another program's settings. */
export interface FoundServer {
  readonly client: string;
  readonly file: string;
  readonly name: string;
  readonly server: ServerSettings;
}

/** Sources for imports: the clients of `octant setup` whose settings list MCP servers. */
export const IMPORTED_FROM = ["claude-code", "codex", "cursor", "gemini", "opencode"] as const;

/** The servers in the other programs' own settings; missing or broken files are skipped. */
export function findServers(
  machine: Machine,
  from: readonly string[] = IMPORTED_FROM,
): readonly FoundServer[] {
  return CLIENTS.filter(({ id }) => from.includes(id)).flatMap((client) =>
    (["user", "project"] as const).flatMap((scope) => {
      const file = fileOf(client, scope, machine);
      return file === undefined ? [] : serversIn(client, file);
    }),
  );
}

function serversIn(client: Client, file: string): FoundServer[] {
  return Object.entries(Object(read(client, file))).flatMap(([given, entry]) => {
    const server = toServer(Object(entry));
    const name = toName(given);
    // Skips Octant itself, registered there by `octant setup`.
    return server && name !== "octant" ? [{ client: client.id, file, name, server }] : [];
  });
}

const read = (client: Client, file: string): unknown =>
  attempt(() => formatOf(client).read(readFileSync(file, "utf8"), [client.servers]));

/** Converts a name to one that is valid in Octant's settings. */
const toName = (name: string): string =>
  name
    .replace(/[^\w.-]/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, MAX_NAME_CHARS) || "server";
const MAX_NAME_CHARS = 60;

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads an entry of any dialect: `command` as text or list, `env` or `environment`, four names for the
 * address.
 */
function toServer(entry: Entry): ServerSettings | undefined {
  const disabled = entry["disabled"] === true || entry["enabled"] === false ? { disabled: true } : {};
  const url = [entry["url"], entry["httpUrl"], entry["serverUrl"]].find((one) => typeof one === "string");
  if (typeof url === "string") {
    const headers = toTexts(entry["headers"] ?? entry["http_headers"]);
    return { url, ...(Object.keys(headers).length > 0 && { headers }), ...disabled };
  }
  const command = entry["command"];
  const words = Array.isArray(command) ? command.map(String) : typeof command === "string" ? [command] : [];
  const [program, ...first] = words;
  if (program === undefined) return undefined;
  const args = [...first, ...(Array.isArray(entry["args"]) ? entry["args"].map(String) : [])];
  const env = toTexts(entry["env"] ?? entry["environment"]);
  return { command: program, args, ...(Object.keys(env).length > 0 && { env }), ...disabled };
}

const toTexts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, String(one)]));
