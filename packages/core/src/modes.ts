import type { Access, AnyAction, Intent } from "./tool.ts";

/** Each mode allows reading and adds one kind of action. No mode allows everything. */
export const MODES = {
  inspect: ["inspect"],
  apply: ["inspect", "apply"],
  verify: ["inspect", "verify"],
  ship: ["inspect", "ship"],
} as const satisfies Record<string, readonly Intent[]>;

export type Mode = keyof typeof MODES;

export const allowedIn = (mode: Mode | undefined, act: Pick<AnyAction, "intent">): boolean =>
  mode === undefined || (MODES[mode] as readonly Intent[]).includes(act.intent);

const RANK: Readonly<Record<Access, number>> = { read: 0, write: 1, admin: 2 };

export const hasAccess = (granted: Access, act: Pick<AnyAction, "access">): boolean =>
  RANK[act.access] <= RANK[granted];
