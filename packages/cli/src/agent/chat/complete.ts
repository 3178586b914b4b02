import { fileURLToPath } from "node:url";
import type { Octant, OpenedAgent } from "@octant/app";
import { listCommands } from "@octant/app";
import { pathToUri } from "@octant/host";
import type { Completer, Completion } from "@octant/terminal";

const MAX_ITEMS = 50;
const CALLER = { id: "chat-completion", access: "read" } as const;

/** Completes commands after "/", their arguments, and workspace paths after "@". */
export function createCompleter(opened: OpenedAgent, cwd: string): Completer {
  return async (word) => {
    if (word.startsWith("/"))
      return /\s/.test(word) ? argumentsOf(opened, cwd, word) : commands(opened, word);
    return word.startsWith("@") ? paths(opened.octant, word.slice(1)) : [];
  };
}

/** Completions for the argument of a command. */
async function argumentsOf(opened: OpenedAgent, cwd: string, line: string): Promise<Completion[]> {
  const [, name, typed = ""] = /^\/(\S+)\s+(\S*)$/.exec(line) ?? [];
  const command = listCommands(opened).find((one) => one.name === name);
  const values = await command?.complete?.({ opened, cwd, signal: new AbortController().signal });
  return (values ?? [])
    .filter((value) => value.startsWith(typed))
    .slice(0, MAX_ITEMS)
    .map((value) => ({ value }));
}

const commands = (opened: OpenedAgent, word: string): Completion[] =>
  listCommands(opened)
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, summary }) => ({ value: `/${name}`, detail: summary }));

/** Entries of the folder being typed; without a slash also deeper files whose name has this prefix. */
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
  // Its output schema has just checked the data of fs.list.
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
