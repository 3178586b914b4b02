import { allowedIn, didYouMean, type Step, ToolError } from "@octant/core";
import { DEVELOPER_MODES, type DeveloperMode } from "./modes.ts";

/** The developer modes there are, and which one each caller works in while the server runs. */
export interface ActiveModes {
  readonly all: readonly DeveloperMode[];
  /** NOT_FOUND when there is no such mode. */
  find(name: string): DeveloperMode;
  current(caller: string): DeveloperMode | undefined;
  /** Ends the mode when the name is undefined. */
  activate(caller: string, name: string | undefined): DeveloperMode | undefined;
  /** Refuses calls that the mode of their caller does not have. */
  readonly step: Step;
}

/** The tool that ends a mode can always be called. */
export const MODE_TOOL = "mode";
const MAX_CALLERS = 10_000;

/** The built-in modes, and the person's own; one of theirs with a built-in name replaces it. */
export function createActiveModes(own: Readonly<Record<string, Omit<DeveloperMode, "name">>>): ActiveModes {
  const mine = Object.entries(own).map(([name, mode]) => ({ ...mode, name }));
  const all = [...DEVELOPER_MODES.filter(({ name }) => !Object.hasOwn(own, name)), ...mine];
  const active = new Map<string, DeveloperMode>();
  const find = (name: string): DeveloperMode => {
    const found = all.find((mode) => mode.name === name);
    if (found) return found;
    const names = all.map((mode) => mode.name);
    const message = `there is no mode '${name}'; modes: ${names.join(", ")}${didYouMean(name, names)}`;
    throw new ToolError("NOT_FOUND", message, { id: name });
  };
  return {
    all,
    find,
    current: (caller) => active.get(caller),
    activate(caller, name) {
      const mode = name === undefined ? undefined : find(name);
      active.delete(caller);
      if (mode) active.set(caller, mode);
      const [oldest] = active.keys();
      if (active.size > MAX_CALLERS && oldest !== undefined) active.delete(oldest);
      return mode;
    },
    step(call, ctx, next) {
      const mode = active.get(ctx.caller.id);
      const { tool, act, name } = call;
      if (!mode || act.builtin || tool.name === MODE_TOOL) return next();
      if ((mode.tools?.includes(tool.name) ?? true) && allowedIn(mode.allows, act)) return next();
      ctx.decided({ step: "mode", outcome: "deny", rule: mode.name });
      throw new ToolError(
        "PERMISSION_DENIED",
        `the developer mode ${mode.name} does not have ${tool.name}.${name}; mode.activate with the name default ends the mode`,
        { by: "mode", rule: mode.name },
      );
    },
  };
}
