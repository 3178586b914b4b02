import { pathToFileURL } from "node:url";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { insertInto, parseObject, splice } from "./edit-jsonc.ts";
import type { JsonObject } from "./jsonc.ts";
import { whileLocked } from "./locked.ts";
import { parseSettings } from "./parse-settings.ts";
import { type Person, userFile, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import type { ServerSettings, Settings } from "./schema.ts";

/** Sets values in the person's own settings; comments and layout stay. */
export const setUserSettings = (values: Settings, person: Person): Promise<void> =>
  changeUserSettings(person, (text) =>
    Object.entries(values).reduce((changed, [key, value]) => withValue(changed, key, value), text),
  );

function withValue(text: string, key: string, value: unknown): string {
  const root = parseObject(text);
  const json = JSON.stringify(value);
  const entry = root.entries.get(key);
  if (entry) return splice(text, entry.value.start, entry.value.end, json);
  return insertInto(text, root, root.entries.size, `${JSON.stringify(key)}: ${json}`);
}

/** Changes the text of the person's own settings while no other process can. */
async function changeUserSettings(
  person: Person,
  change: (text: string, uri: string) => string,
): Promise<void> {
  const folder = userFolder(person);
  const file = userFile(folder);
  await whileLocked(folder, "settings", () => {
    const found = readSettingsFile(file);
    const text = found?.text ?? "{}\n";
    parseSettings(text, file);
    const changed = change(text, pathToFileURL(file.path).href);
    // Validated first, so that an unreadable file is never written.
    parseSettings(changed, file);
    replaceFile(file.path, changed, { mode: found ? found.stat.mode & 0o777 : 0o600 });
  });
}

/** Writes MCP servers to the person's own settings; comments and layout stay. ALREADY_EXISTS when a name is taken. */
export const addUserServers = (
  servers: Readonly<Record<string, ServerSettings>>,
  person: Person,
): Promise<void> =>
  changeUserSettings(person, (text, uri) =>
    Object.entries(servers).reduce((changed, [name, server]) => withServer(changed, name, server, uri), text),
  );

/** Takes an MCP server out of the person's own settings; NOT_FOUND when it is not there. */
export const removeUserServer = (name: string, person: Person): Promise<void> =>
  changeUserSettings(person, (text) => withoutServer(text, name));

const KEY = "mcp_servers";

function serversIn(root: JsonObject): JsonObject | undefined {
  const value = root.entries.get(KEY)?.value;
  return value?.kind === "object" ? value : undefined;
}

function withServer(text: string, name: string, server: ServerSettings, uri: string): string {
  const root = parseObject(text);
  const servers = serversIn(root);
  const entry = `${JSON.stringify(name)}: ${JSON.stringify(server)}`;
  if (!servers) return insertInto(text, root, root.entries.size, `"${KEY}": { ${entry} }`);
  if (servers.entries.has(name))
    throw new ToolError(
      "ALREADY_EXISTS",
      `there is an MCP server '${name}' in your settings; remove it first`,
      { uri },
    );
  return insertInto(text, servers, servers.entries.size, entry);
}

function withoutServer(text: string, name: string): string {
  const servers = serversIn(parseObject(text));
  const names = servers ? [...servers.entries.keys()] : [];
  const at = names.indexOf(name);
  const entry = servers?.entries.get(name);
  if (!servers || !entry) {
    const known = names.length > 0 ? `; there: ${names.join(", ")}` : "";
    throw new ToolError("NOT_FOUND", `there is no MCP server '${name}' in your settings${known}`, {});
  }
  const next = servers.entries.get(names[at + 1] ?? "");
  if (next) return splice(text, entry.start, next.start, "");
  const before = servers.entries.get(names[at - 1] ?? "");
  // The last one takes along the comma before it, or else the one after it.
  const end = servers.trailingComma ? text.indexOf(",", entry.value.end) + 1 : entry.value.end;
  return splice(text, before ? before.value.end : servers.start + 1, end, "");
}
