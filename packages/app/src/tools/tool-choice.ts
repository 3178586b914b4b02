import type { Tool } from "@octant/core";

export interface ToolConfig {
  /** Groups of tools; `core` when absent. */
  readonly enable?: readonly string[];
  /** Names of tools, or of single actions as `tool.action`. */
  readonly disable?: readonly string[];
}

export interface ToolChoice {
  /** Exactly these tools and groups; without it, those of the enabled groups. */
  readonly tools?: readonly string[];
  readonly toolConfig?: ToolConfig;
}

/** The selected names, in listing order. */
export function chooseNames(
  { tools, toolConfig: { enable = ["core"] } = {} }: ToolChoice,
  offered: readonly string[],
  groups: Readonly<Record<string, readonly string[]>>,
): string[] {
  if (tools)
    return pick(
      "tool",
      tools.flatMap((name) => groups[name] ?? [name]),
      offered,
    );
  const enabled = pick("group", enable, Object.keys(groups)).flatMap((name) => groups[name] ?? []);
  return offered.filter((name) => enabled.includes(name));
}

/** The tools without the disabled ones. */
export function withoutDisabled(tools: readonly Tool[], disable: readonly string[] = []): Tool[] {
  const valid = tools.flatMap(({ name, actions }) => [
    name,
    ...Object.keys(actions).map((act) => `${name}.${act}`),
  ]);
  const disabled = new Set(pick("tool or action", disable, valid));
  return tools
    .filter(({ name }) => !disabled.has(name))
    .map((tool) => ({
      ...tool,
      actions: Object.fromEntries(
        Object.entries(tool.actions).filter(([action]) => !disabled.has(`${tool.name}.${action}`)),
      ),
    }));
}

/** An option names a tool, group or action that does not exist. */
export class UnknownNameError extends TypeError {
  override readonly name = "UnknownNameError";
}

function pick(kind: string, wanted: readonly string[], valid: readonly string[]): string[] {
  const unknown = wanted.find((name) => !valid.includes(name));
  if (unknown === undefined) return valid.filter((name) => wanted.includes(name));
  throw new UnknownNameError(`there is no ${kind} '${unknown}'; choose from: ${valid.join(", ")}`);
}
