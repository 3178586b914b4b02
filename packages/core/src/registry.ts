import { withBuiltins } from "./builtins.ts";
import type { Tool } from "./tool.ts";
import { createTopic } from "./topic.ts";

export interface RegistryChange {
  readonly type: "added" | "removed";
  readonly tool: string;
}

const NAME = /^[a-z][a-z0-9_]{0,47}$/;

export type Registry = ReturnType<typeof createRegistry>;

/** The tools of one server, each with its built-in actions. Tools can be added and removed at run time. */
export function createRegistry(tools: readonly Tool[], now?: () => number) {
  const byName = new Map<string, () => Tool>();
  const changes = createTopic<RegistryChange>({ ...(now && { now }) });
  const add = (name: string, create: () => Tool) => {
    if (!NAME.test(name))
      throw new TypeError(`invalid tool name '${name}': use lower case letters, digits and _`);
    if (byName.has(name)) throw new TypeError(`tool '${name}' already exists; remove it first`);
    let tool: Tool | undefined;
    byName.set(name, () => (tool ??= withBuiltins(create())));
  };
  for (const tool of tools) add(tool.name, () => tool);

  return {
    names: (): readonly string[] => [...byName.keys()],
    list: (): readonly Tool[] => Array.from(byName.values(), (get) => get()),
    get: (name: string): Tool | undefined => byName.get(name)?.(),
    addTool(tool: Tool): void {
      add(tool.name, () => tool);
      changes.publish({ type: "added", tool: tool.name });
    },
    /** Adds a tool that is created when it is first called or listed: its schemas take milliseconds. */
    addToolOnUse(name: string, create: () => Tool): void {
      add(name, create);
      changes.publish({ type: "added", tool: name });
    },
    removeTool(name: string): boolean {
      const removed = byName.delete(name);
      if (removed) changes.publish({ type: "removed", tool: name });
      return removed;
    },
    changes,
  };
}
