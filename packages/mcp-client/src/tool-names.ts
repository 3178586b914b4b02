import { createHash } from "node:crypto";

/** Providers accept 64 characters; some add a prefix. */
const MAX_NAME_CHARS = 60;
const MAX_SERVER_CHARS = 26;
const HASH_CHARS = 8;
const PREFIX = "mcp__";
const SEPARATOR = "__";

export interface ToolPlace {
  readonly server: string;
  readonly tool: string;
}

/**
 * Names tools `mcp__<server>__<tool>`: letters, digits, `_` and `-`, at most 60 characters, each unique. The first
 * tool to request a name gets it; a later one with the same name gets a hash suffix.
 */
export function createToolNames() {
  const servers = new Map<string, string>();
  const names = new Map<string, string>();
  const places = new Map<string, ToolPlace>();

  const serverPart = (server: string): string => {
    const known = servers.get(server);
    if (known !== undefined) return known;
    const taken = new Set(servers.values());
    const part = fit(sanitiseServer(server), server, MAX_SERVER_CHARS, (name) => taken.has(name));
    servers.set(server, part);
    return part;
  };

  return {
    /** The name that a model sees. It is stable for the lifetime of this object. */
    nameOf(server: string, tool: string): string {
      const key = JSON.stringify([server, tool]);
      const known = names.get(key);
      if (known !== undefined) return known;
      const start = `${PREFIX}${serverPart(server)}${SEPARATOR}`;
      const room = MAX_NAME_CHARS - start.length;
      const name = start + fit(sanitiseTool(tool), tool, room, (part) => places.has(start + part));
      names.set(key, name);
      places.set(name, { server, tool });
      return name;
    },
    /** The tool behind a name, or undefined. */
    placeOf: (name: string) => places.get(name),
  };
}

/** Without `__` and without `_` at either end, so that the separator is unambiguous. */
const sanitiseServer = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_-]/gu, "_")
    .replace(/_+/g, "_")
    .replace(/^_|_$/g, "") || "server";

const sanitiseTool = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, "_") || "tool";

/** The part itself when it fits and is free; otherwise its start and a hash of the original. */
function fit(part: string, original: string, room: number, isTaken: (part: string) => boolean): string {
  let fitting = part;
  for (let salt = ""; fitting.length > room || isTaken(fitting); salt += "#") {
    const hash = createHash("sha256").update(`${original}${salt}`).digest("hex").slice(0, HASH_CHARS);
    fitting = `${part.slice(0, room - HASH_CHARS - 1).replace(/_+$/, "")}_${hash}`;
  }
  return fitting;
}
