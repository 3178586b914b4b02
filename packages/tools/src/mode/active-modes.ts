import { allowedIn, didYouMean, type Mode, type Step, type StepContext, ToolError } from "@octant/core";
import { DEVELOPER_MODES, type DeveloperMode } from "./modes.ts";

/** The developer modes, and the current mode of each caller while the server runs. */
export interface ActiveModes {
  readonly all: readonly DeveloperMode[];
  /** NOT_FOUND when there is no such mode. */
  find(name: string): DeveloperMode;
  current(caller: string): DeveloperMode | undefined;
  /** Ends the mode when the name is undefined. */
  activate(caller: string, name: string | undefined): DeveloperMode | undefined;
  /** What the person allows the caller's calls to do; everything when undefined. */
  intent(caller: string): Mode | undefined;
  setIntent(caller: string, intent: Mode | undefined): void;
  /** Refuses calls that the caller's mode excludes. */
  readonly step: Step;
}

/** Always callable, because it ends a mode. */
export const MODE_TOOL = "mode";
const MAX_CALLERS = 10_000;

/** The built-in modes and the person's own; an own mode replaces a built-in one of the same name. */
export function createActiveModes(own: Readonly<Record<string, Omit<DeveloperMode, "name">>>): ActiveModes {
  const mine = Object.entries(own).map(([name, mode]) => ({ ...mode, name }));
  const all = [...DEVELOPER_MODES.filter(({ name }) => !Object.hasOwn(own, name)), ...mine];
  const active = new Map<string, DeveloperMode>();
  const intents = new Map<string, Mode>();
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
      put(active, caller, mode);
      return mode;
    },
    intent: (caller) => intents.get(caller),
    setIntent: (caller, intent) => put(intents, caller, intent),
    step(call, ctx, next) {
      const mode = active.get(ctx.caller.id);
      const { tool, act } = call;
      const name = `${tool.name}.${call.name}`;
      const intent = intents.get(ctx.caller.id);
      if (!allowedIn(intent, act))
        throw refuse(
          ctx,
          intent ?? "",
          `mode ${intent} does not allow ${name}; the person can switch the mode`,
        );
      if (!mode || act.builtin || tool.name === MODE_TOOL) return next();
      if ((mode.tools?.includes(tool.name) ?? true) && allowedIn(mode.allows, act)) return next();
      const how = "mode.activate with the name default ends the mode";
      throw refuse(ctx, mode.name, `the developer mode ${mode.name} does not have ${name}; ${how}`);
    },
  };
}

/** Newest last; evicts the oldest beyond the limit. */
function put<V>(values: Map<string, V>, caller: string, value: V | undefined): void {
  values.delete(caller);
  if (value !== undefined) values.set(caller, value);
  const [oldest] = values.keys();
  if (values.size > MAX_CALLERS && oldest !== undefined) values.delete(oldest);
}

function refuse(ctx: StepContext, rule: string, message: string): ToolError {
  ctx.decided({ step: "mode", outcome: "deny", rule });
  return new ToolError("PERMISSION_DENIED", message, { by: "mode", rule });
}
