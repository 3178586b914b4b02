import { withBuiltins } from "./builtins.ts";
import type { Tool } from "./tool.ts";

/** The tools of one server, each with its built-ins. They come and go at run time; a change is told to every listener. */
export interface Registry {
  list(): readonly Tool[];
  get(name: string): Tool | undefined;
  addTool(tool: Tool): void;
  removeTool(name: string): boolean;
  onChange(listener: () => void): () => void;
}

const NAME = /^[a-z][a-z0-9_]{0,47}$/;

export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const add = (tool: Tool) => {
    if (!NAME.test(tool.name))
      throw new TypeError(`'${tool.name}' is no tool name: lower case letters, digits and _`);
    if (byName.has(tool.name)) throw new TypeError(`there is a tool '${tool.name}' already; remove it first`);
    byName.set(tool.name, withBuiltins(tool));
  };
  for (const tool of tools) add(tool);

  return {
    list: () => [...byName.values()],
    get: (name) => byName.get(name),
    addTool(tool) {
      add(tool);
      tell();
    },
    removeTool(name) {
      const removed = byName.delete(name);
      if (removed) tell();
      return removed;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
