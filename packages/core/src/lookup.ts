import { didYouMean } from "./did-you-mean.ts";
import { ToolError } from "./errors.ts";
import type { AnyAction, Tool } from "./tool.ts";

/** A tool by name, or the typed error that lists the others. */
export function toolOf(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool) return tool;
  const available = tools.map((one) => one.name);
  const message = `unknown tool '${name}'; tools: ${available.join(", ")}`;
  const hint = didYouMean(name, available);
  throw new ToolError("UNKNOWN_TOOL", hint ? `${message}.${hint}` : message, { available });
}

/** An action by name, or the typed error that lists the others. */
export function actionOf(tool: Tool, name: unknown): AnyAction {
  const available = Object.keys(tool.actions);
  if (typeof name !== "string" || name === "") {
    const message = `action parameter is required; valid actions: ${available.join(", ")}`;
    throw new ToolError("UNKNOWN_ACTION", message, { available });
  }
  const act = ownAction(tool, name);
  if (act) return act;
  const message = `unknown action '${name}' for ${tool.name} tool; valid actions: ${available.join(", ")}`;
  const hint = didYouMean(name, available);
  throw new ToolError("UNKNOWN_ACTION", hint ? `${message}.${hint}` : message, { available });
}

/** Own properties only: `constructor` is not an action. */
export const ownAction = (tool: Tool, name: string): AnyAction | undefined =>
  Object.hasOwn(tool.actions, name) ? tool.actions[name] : undefined;
