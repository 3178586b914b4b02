import { fileURLToPath } from "node:url";
import { pathToUri } from "@octant/host";
import type { Octant } from "../octant.ts";

const CALLER = { id: "chat-completion", access: "read" } as const;

/** Entries of the folder being typed; without a slash also deeper files whose name has this prefix. */
export async function findMentions(octant: Octant, typed: string): Promise<readonly string[]> {
  const root = octant.workspace.confinement.roots[0] ?? "";
  const [folder, name] = typed.includes("/")
    ? [typed.replace(/[^/]*$/, ""), typed.replace(/^.*\//, "")]
    : ["", typed];
  const { envelope } = await octant.dispatch(
    { tool: "fs", action: "list", input: { uri: folder === "" ? "." : folder, depth: 1, limit: 1000 } },
    { caller: CALLER },
  );
  if (!envelope.ok) return [];
  // Its output schema has just checked the data of fs.list.
  const { entries } = envelope.data as { entries: { uri: string; kind: string }[] };
  const base = root === "" ? "" : pathToUri(root);
  return entries
    .map(({ uri, kind }) => ({ path: relative(uri, base), isFolder: kind === "directory" }))
    .filter(({ path }) => path.slice(folder.length).toLowerCase().startsWith(name.toLowerCase()))
    .map(({ path, isFolder }) => `${path}${isFolder ? "/" : ""}`);
}

function relative(uri: string, base: string): string {
  const path = fileURLToPath(uri);
  const start = fileURLToPath(base);
  return path.startsWith(`${start}/`) ? path.slice(start.length + 1) : path;
}
