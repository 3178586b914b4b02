import type { AnyAction, Step } from "@octant/core";
import { type CheckPermissionOptions, checkPermission, type PermissionSetting } from "./check-permission.ts";
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
}

/**
 * Checks permission, and asks about each command that no sandbox confines, whatever rules and earlier answers allow:
 * they were given for confined ones.
 */
export function checkCommands(options: CheckCommandsOptions): Step {
  const { policy, permissions, session, places, unconfined, addRule: _, ...rest } = options;
  const usual = checkPermission(options);
  const answers = new SessionAnswers(places);
  const asking = (reason: string): Step =>
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

  return (call, ctx, next) => {
    if (!call.act.runsCommands) return usual(call, ctx, next);
    return unconfined().then((found) =>
      asksUnconfined(call.act, permissions, found)
        ? asking(found.reason)(call, ctx, next)
        : usual(call, ctx, next),
    );
  };
}

export const asksUnconfined = (
  { runsCommands }: AnyAction,
  permissions: PermissionSetting,
  unconfined: Unconfined | undefined,
): unconfined is Unconfined =>
  runsCommands === true && permissions === "enforce" && unconfined?.accepted === false;
