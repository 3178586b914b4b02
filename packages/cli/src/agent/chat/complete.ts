import { fileURLToPath } from "node:url";
import { pathToUri } from "@octant/host";
import type { Completer, Completion } from "@octant/terminal";
import type { Octant } from "../../octant.ts";
import { listCommands } from "../commands/index.ts";

const MAX_ITEMS = 50;
const CALLER = { id: "chat-completion", access: "read" } as const;

/** Completes commands after "/" and paths of the workspace after "@". */
export function createCompleter(octant: Octant, env: NodeJS.ProcessEnv): Completer {
  return async (word) =>
    word.startsWith("/")
      ? commands(octant, env, word)
      : word.startsWith("@")
        ? paths(octant, word.slice(1))
        : [];
}

const commands = (octant: Octant, env: NodeJS.ProcessEnv, word: string): Completion[] =>
  listCommands(octant, env)
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, summary }) => ({ value: `/${name}`, detail: summary }));

/** Entries of the folder that is being typed; without a slash also files further down whose name begins so. */
async function paths(octant: Octant, typed: string): Promise<Completion[]> {
  const root = octant.workspace.confinement.roots[0] ?? "";
  const [folder, name] = typed.includes("/")
    ? [typed.replace(/[^/]*$/, ""), typed.replace(/^.*\//, "")]
    : ["", typed];
  const { envelope } = await octant.dispatch(
    { tool: "fs", action: "list", input: { uri: folder === "" ? "." : folder, depth: 1, limit: 1000 } },
    { caller: CALLER },
  );
  if (!envelope.ok) return [];
  // The output of fs.list, which its schema has just checked.
  const { entries } = envelope.data as { entries: { uri: string; kind: string }[] };
  const base = root === "" ? "" : pathToUri(root);
  return entries
    .map(({ uri, kind }) => ({ path: relative(uri, base), isFolder: kind === "directory" }))
    .filter(({ path }) => path.slice(folder.length).toLowerCase().startsWith(name.toLowerCase()))
    .slice(0, MAX_ITEMS)
    .map(({ path, isFolder }) => ({ value: `@${path}${isFolder ? "/" : ""}` }));
}

function relative(uri: string, base: string): string {
  const path = fileURLToPath(uri);
  const start = fileURLToPath(base);
  return path.startsWith(`${start}/`) ? path.slice(start.length + 1) : path;
}
