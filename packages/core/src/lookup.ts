import { hintFor } from "./alias-names.ts";
import { didYouMean } from "./did-you-mean.ts";
import { ToolError } from "./errors.ts";
import type { AnyAction, Tool } from "./tool.ts";

/** A tool by name, or the typed error that lists the others. */
export function toolOf(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool) return tool;
  const available = tools.map((one) => one.name);
  throw unknown("UNKNOWN_TOOL", `unknown tool '${name}'; tools`, name, available);
}

/** An action by name, or the typed error that lists the others. */
export function actionOf(tool: Tool, name: unknown): AnyAction {
  const available = Object.keys(tool.actions);
  if (typeof name !== "string" || name === "")
    throw unknown("UNKNOWN_ACTION", "action parameter is required; valid actions", "", available);
  const act = ownAction(tool, name);
  if (act) return act;
  const message = `unknown action '${name}' for ${tool.name} tool; valid actions`;
  throw unknown("UNKNOWN_ACTION", message, name, available);
}

function unknown(
  code: "UNKNOWN_TOOL" | "UNKNOWN_ACTION",
  message: string,
  name: string,
  available: string[],
): ToolError {
  const instead = hintFor(name);
  if (instead !== undefined)
    return new ToolError(code, `there is no '${name}' here: ${instead}`, { available });
  const hint = didYouMean(name, available);
  return new ToolError(code, `${message}: ${available.join(", ")}${hint && `.${hint}`}`, { available });
}

/** Own properties only: `constructor` is not an action. */
export const ownAction = (tool: Tool, name: string): AnyAction | undefined =>
  Object.hasOwn(tool.actions, name) ? tool.actions[name] : undefined;
