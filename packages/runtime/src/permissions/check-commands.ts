import { type AnyAction, isUnaskedIn, type Mode, type Need, type Step, ToolError } from "@octant/core";
import { nameOf } from "../call-name.ts";
import {
  type CheckPermissionOptions,
  checkPermission,
  type PermissionSetting,
  type Unasked,
} from "./check-permission.ts";
import type { Places } from "./path-glob.ts";
import { SessionAnswers } from "./session-answers.ts";

/** The consequences for commands on a machine without a working sandbox. */
export interface Unconfined {
  readonly reason: string;
  /** The person has accepted it, and the rules apply as usual. */
  readonly accepted: boolean;
}

export interface CheckCommandsOptions extends CheckPermissionOptions {
  readonly places: Places;
  /** Called before each command; undefined when a sandbox confines it. */
  unconfined(): Promise<Unconfined | undefined>;
  /** The mode of the session; "ask" when absent. */
  modeOf?(session: string): Mode;
}

/**
 * Checks permission, and asks about each command that no sandbox confines, whatever rules and earlier answers allow:
 * they were given for confined ones.
 */
export function checkCommands(options: CheckCommandsOptions): Step {
  const { policy, permissions, session, places, unconfined, addRule: _, ...rest } = options;
  const { limiting = (_limits, run) => run() } = options;
  const usual = checkPermission({ ...options, unasked: unaskedBy(options, false) });
  const confined = checkPermission({ ...options, unasked: unaskedBy(options, true) });
  const createAsking = () => {
    const answers = new SessionAnswers(places);
    return (reason: string): Step =>
      checkPermission({
        ...rest,
        permissions,
        session: {
          allows: (id, call) => answers.allows(id, call),
          remember: (id, call, rule) => answers.remember(id, call, rule),
          denial: (id, call) => session.denial(id, call),
        },
        policy: {
          ...policy,
          evaluate(call) {
            const decision = policy.evaluate(call);
            return decision.mode === "deny"
              ? decision
              : { mode: "prompt", tier: "sandbox", rule: null, reason };
          },
        },
      });
  };
  const askUnconfined = createAsking();
  const askOutside = createAsking();

  return (call, ctx, next) => {
    if (!call.act.runsCommands) return usual(call, ctx, next);
    const need: Need | undefined = call.act.needs?.(call.input);
    return unconfined().then((found) => {
      if (asksUnconfined(call.act, permissions, found)) return askUnconfined(found.reason)(call, ctx, next);
      if (found) return usual(call, ctx, next);
      if (need?.right !== "outside") return confined(call, ctx, next);
      if (permissions === "host") throw cannotAsk(nameOf(call));
      const reason = `it asks to run outside the sandbox, with all your rights: ${need.reason}`;
      return askOutside(reason)(call, ctx, () => limiting({ outside: true }, next));
    });
  };
}

function cannotAsk(name: string): ToolError {
  const reason = "only a person whom Octant asks can allow a command outside the sandbox";
  const message = `${name}: ${reason}; run it inside, or start the server with --permissions enforce`;
  return new ToolError("APPROVAL_REQUIRED", message, { by: "permission", reason });
}

/** Programs that only read, and what the mode of the session allows. Commands have to be confined for both. */
const unaskedBy =
  ({ policy, modeOf = () => "ask" }: CheckCommandsOptions, isConfined: boolean) =>
  (
    ...[{ act, input }, asked, session]: Parameters<NonNullable<CheckPermissionOptions["unasked"]>>
  ): Unasked | undefined => {
    const mode = modeOf(session);
    if (!act.runsCommands) return isUnaskedIn(mode, act) ? { reason: `mode ${mode} allows it` } : undefined;
    if (!isConfined || act.needs?.(input)) return undefined;
    if (policy.onlyReads(asked))
      return { reason: "its programs only read the project", limits: { network: "off", readOnly: true } };
    if (!isUnaskedIn(mode, act)) return undefined;
    return { reason: `mode ${mode} allows it in the sandbox, without network`, limits: { network: "off" } };
  };

export const asksUnconfined = (
  { runsCommands }: AnyAction,
  permissions: PermissionSetting,
  unconfined: Unconfined | undefined,
): unconfined is Unconfined =>
  runsCommands === true && permissions === "enforce" && unconfined?.accepted === false;
