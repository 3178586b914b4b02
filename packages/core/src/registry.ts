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
  const byName = new Map<string, Tool>();
  const changes = createTopic<RegistryChange>({ ...(now && { now }) });
  const add = (tool: Tool) => {
    if (!NAME.test(tool.name))
      throw new TypeError(`invalid tool name '${tool.name}': use lower case letters, digits and _`);
    if (byName.has(tool.name)) throw new TypeError(`tool '${tool.name}' already exists; remove it first`);
    byName.set(tool.name, withBuiltins(tool));
  };
  for (const tool of tools) add(tool);

  return {
    list: (): readonly Tool[] => [...byName.values()],
    get: (name: string): Tool | undefined => byName.get(name),
    addTool(tool: Tool): void {
      add(tool);
      changes.publish({ type: "added", tool: tool.name });
    },
    removeTool(name: string): boolean {
      const removed = byName.delete(name);
      if (removed) changes.publish({ type: "removed", tool: name });
      return removed;
    },
    changes,
  };
}
