import { pathToFileURL } from "node:url";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { findNodeAtLocation } from "jsonc-parser";
import { endOf, hasTrailingComma, insertInto, splice } from "./edit-jsonc.ts";
import { parseJsonc } from "./jsonc.ts";
import { whileLocked } from "./locked.ts";
import { parseSettings } from "./parse-settings.ts";
import { type Person, userFile, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import type { PackSettings, ServerSettings, Settings } from "./schema.ts";

/** Sets values in the person's own settings; comments and layout stay. */
export const setUserSettings = (values: Settings, person: Person): Promise<void> =>
  changeUserSettings(person, (text) =>
    Object.entries(values).reduce((changed, [key, value]) => withValue(changed, key, value), text),
  );

function withValue(text: string, key: string, value: unknown): string {
  const { root } = parseJsonc(text);
  const json = JSON.stringify(value);
  const old = findNodeAtLocation(root, [key]);
  if (old) return splice(text, old.offset, endOf(old), json);
  return insertInto(text, root, root.children?.length ?? 0, `${JSON.stringify(key)}: ${json}`);
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
    Object.entries(servers).reduce(
      (changed, [name, server]) => withEntry(changed, "mcp_servers", name, server, uri),
      text,
    ),
  );

/** Removes an MCP server from the person's own settings; NOT_FOUND when it is not there. */
export const removeUserServer = (name: string, person: Person): Promise<void> =>
  changeUserSettings(person, (text) => withoutEntry(text, "mcp_servers", name));

/** Writes a pack to the person's own settings. ALREADY_EXISTS when the name is taken. */
export const addUserPack = (name: string, pack: PackSettings, person: Person): Promise<void> =>
  changeUserSettings(person, (text, uri) => withEntry(text, "packs", name, pack, uri));

/** Removes a pack from the person's own settings; NOT_FOUND when it is not there. */
export const removeUserPack = (name: string, person: Person): Promise<void> =>
  changeUserSettings(person, (text) => withoutEntry(text, "packs", name));

const THINGS = { mcp_servers: "MCP server", packs: "pack" } as const;

function withEntry(
  text: string,
  key: keyof typeof THINGS,
  name: string,
  value: unknown,
  uri: string,
): string {
  const { root } = parseJsonc(text);
  const map = findNodeAtLocation(root, [key]);
  const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  if (!map) return insertInto(text, root, root.children?.length ?? 0, `"${key}": { ${entry} }`);
  if (findNodeAtLocation(map, [name]))
    throw new ToolError(
      "ALREADY_EXISTS",
      `the ${THINGS[key]} '${name}' is already in your settings; remove it first`,
      { uri },
    );
  return insertInto(text, map, map.children?.length ?? 0, entry);
}

function withoutEntry(text: string, key: keyof typeof THINGS, name: string): string {
  const servers = findNodeAtLocation(parseJsonc(text).root, [key]);
  const entries = servers?.children ?? [];
  const names = entries.map(({ children }) => children?.[0]?.value);
  const at = names.indexOf(name);
  const entry = entries[at];
  if (!servers || !entry) {
    const known = names.length > 0 ? `; there: ${names.join(", ")}` : "";
    throw new ToolError("NOT_FOUND", `there is no ${THINGS[key]} '${name}' in your settings${known}`, {});
  }
  const next = entries[at + 1];
  if (next) return splice(text, entry.offset, next.offset, "");
  const before = entries[at - 1];
  // The last one takes along the comma before it, or else the one after it.
  const end = hasTrailingComma(text, servers) ? text.indexOf(",", endOf(entry)) + 1 : endOf(entry);
  return splice(text, before ? endOf(before) : servers.offset + 1, end, "");
}
