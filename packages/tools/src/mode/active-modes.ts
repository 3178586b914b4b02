import {
  type AnyAction,
  allowedIn,
  didYouMean,
  type SessionMode,
  type Step,
  ToolError,
  toModeRefusal,
} from "@octant/core";
import { DEVELOPER_MODES, type DeveloperMode } from "./modes.ts";

/** The developer modes, and the current mode of each caller while the server runs. */
export type ActiveModes = ReturnType<typeof createActiveModes>;

/** An action that is about to be called. */
interface ModeCall {
  readonly tool: string;
  readonly name: string;
  readonly act: Pick<AnyAction, "intent" | "builtin" | "runsCommands">;
}

interface ModeRefusal {
  readonly rule: string;
  readonly message: string;
}

interface ParentModes {
  /** The caller's mode: which calls run, and which are asked about. */
  session(caller: string): SessionMode;
  /** The mode of the caller, or of one above it, that excludes the action; undefined when none does. */
  refusal(caller: string, call: ModeCall): ModeRefusal | undefined;
}

/** Always callable, because it ends a mode. */
export const MODE_TOOL = "mode";
const MAX_CALLERS = 10_000;

/**
 * The built-in modes and the person's own; an own mode replaces a built-in one of the same name. Sessions begin in the
 * mode `start`.
 */
export function createActiveModes(
  own: Readonly<Record<string, Omit<DeveloperMode, "name">>>,
  start: SessionMode = "ask",
) {
  const mine = Object.entries(own).map(([name, mode]) => ({ ...mode, name }));
  const all = [...DEVELOPER_MODES.filter(({ name }) => !Object.hasOwn(own, name)), ...mine];
  const active = new Map<string, DeveloperMode>();
  const sessions = new Map<string, SessionMode>();
  const parents = new Map<string, { readonly modes: ParentModes; readonly caller: string }>();
  const listeners: ((caller: string) => void)[] = [];
  const notify = (caller: string) => {
    for (const listener of listeners) listener(caller);
  };
  const find = (name: string): DeveloperMode => {
    const found = all.find((mode) => mode.name === name);
    if (found) return found;
    const names = all.map((mode) => mode.name);
    const message = `there is no mode '${name}'; modes: ${names.join(", ")}${didYouMean(name, names)}`;
    throw new ToolError("NOT_FOUND", message, { id: name });
  };
  const session: ParentModes["session"] = (caller) => {
    const above = parents.get(caller);
    return sessions.get(caller) ?? above?.modes.session(above.caller) ?? start;
  };
  const refusal: ParentModes["refusal"] = (caller, call) => {
    const { tool, act } = call;
    const name = `${tool}.${call.name}`;
    const now = session(caller);
    if (!allowedIn(now, act)) return { rule: now, message: toModeRefusal(now, name, act) };
    const mode = active.get(caller);
    if (mode && !act.builtin && tool !== MODE_TOOL && !hasAction(mode, tool, act)) {
      const how = "mode.activate with the name default ends the mode";
      return { rule: mode.name, message: `the developer mode ${mode.name} does not have ${name}; ${how}` };
    }
    const above = parents.get(caller);
    return above?.modes.refusal(above.caller, call);
  };
  /** Refuses calls that the caller's mode excludes. */
  const step: Step = ({ tool, name, act }, ctx, next) => {
    const refused = refusal(ctx.caller.id, { tool: tool.name, name, act });
    if (!refused) return next();
    const { rule, message } = refused;
    ctx.decided({ step: "mode", outcome: "deny", rule });
    throw new ToolError("PERMISSION_DENIED", message, { by: "mode", rule });
  };
  return {
    all,
    /** NOT_FOUND when there is no such mode. */
    find,
    current: (caller: string) => active.get(caller),
    /** Ends the mode when the name is undefined. */
    activate(caller: string, name: string | undefined): DeveloperMode | undefined {
      const mode = name === undefined ? undefined : find(name);
      put(active, caller, mode);
      notify(caller);
      return mode;
    },
    session,
    setSession(caller: string, mode: SessionMode): void {
      put(sessions, caller, mode);
      notify(caller);
    },
    /** From now on, the modes of the parent bind this caller too, as those of an agent bind its sub-agents. */
    adopt: (caller: string, modes: ParentModes, parent: string) =>
      void parents.set(caller, { modes, caller: parent }),
    /** Reports the caller whose mode changed. */
    subscribe: (listener: (caller: string) => void) => void listeners.push(listener),
    refusal,
    step,
  };
}

const hasAction = ({ tools, allows }: DeveloperMode, tool: string, act: Pick<AnyAction, "intent">): boolean =>
  (tools?.includes(tool) ?? true) && allowedIn(allows, act);

/** Newest last; evicts the oldest beyond the limit. */
function put<V>(values: Map<string, V>, caller: string, value: V | undefined): void {
  values.delete(caller);
  if (value !== undefined) values.set(caller, value);
  const [oldest] = values.keys();
  if (values.size > MAX_CALLERS && oldest !== undefined) values.delete(oldest);
}
