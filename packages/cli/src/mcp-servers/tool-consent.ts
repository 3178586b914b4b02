import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLock, replaceFile } from "@octant/host";
import type { ToolConsent } from "@octant/mcp";

type Known = Record<string, Record<string, string>>;

/** Stores the hashes of the tool definitions that the person has approved, for all workspaces. */
export function createToolConsent(folder: string): ToolConsent {
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
          replaceFile(file, `${JSON.stringify(now, null, 2)}\n`, { mode: 0o600 });
          known = now;
        });
      } finally {
        await lock.close();
      }
    },
  };
}

function read(file: string): Known {
  try {
    // Only this module writes the file, and only the person's account can.
    return JSON.parse(readFileSync(file, "utf8")) as Known;
  } catch (cause) {
    if (Object(cause).code === "ENOENT") return {};
    throw cause;
  }
}
