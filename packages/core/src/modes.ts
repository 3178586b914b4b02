import type { Access, AnyAction, Intent } from "./tool.ts";

interface ModeInfo {
  readonly intents: readonly Intent[];
  /** Actions that run without a question, by what they declare as `unaskedIn`. */
  readonly unasked: readonly UnaskedIn[];
  readonly summary: string;
}

/** The first mode in which a session runs an action without a question. */
export type UnaskedIn = "edits" | "sandbox";

const EVERY: readonly Intent[] = ["inspect", "apply", "verify", "ship"];

/** The modes of a session, in the order in which the person goes through them, then those that bind a whole server. */
export const MODES = {
  ask: { intents: EVERY, unasked: [], summary: "Ask before changes and commands" },
  edits: { intents: EVERY, unasked: ["edits"], summary: "Edit files of the workspace without asking" },
  sandbox: {
    intents: EVERY,
    unasked: ["edits", "sandbox"],
    summary: "Also run commands that the sandbox confines, without network",
  },
  plan: { intents: ["inspect"], unasked: [], summary: "Only read" },
  inspect: { intents: ["inspect"], unasked: [], summary: "Only read" },
  apply: { intents: ["inspect", "apply"], unasked: [], summary: "Read and edit files" },
  verify: { intents: ["inspect", "verify"], unasked: [], summary: "Read, and run tests and commands" },
  ship: { intents: ["inspect", "ship"], unasked: [], summary: "Read, commit and push" },
} as const satisfies Record<string, ModeInfo>;

export type Mode = keyof typeof MODES;

// Object.keys widens the keys to string.
export const MODE_NAMES = Object.keys(MODES) as [Mode, ...Mode[]];

/** The modes that a person switches between during a session. */
export const SESSION_MODES = ["ask", "edits", "sandbox", "plan"] as const satisfies readonly Mode[];
export type SessionMode = (typeof SESSION_MODES)[number];

export const isSessionMode = (name: string | undefined): name is SessionMode =>
  SESSION_MODES.some((mode) => mode === name);

const infoOf = (mode: Mode): ModeInfo => MODES[mode];

export const allowedIn = (mode: Mode | undefined, act: Pick<AnyAction, "intent">): boolean =>
  mode === undefined || infoOf(mode).intents.includes(act.intent);

/** Many models try commands first, also to read. */
export const toModeRefusal = (
  mode: string,
  name: string,
  { runsCommands }: Pick<AnyAction, "runsCommands">,
): string =>
  `mode ${mode} does not allow ${name}; ${runsCommands ? "read with fs, search, code and vcs; " : ""}the person can switch the mode`;

/** Whether the mode runs the action without a question. */
export const isUnaskedIn = (mode: Mode, { unaskedIn }: Pick<AnyAction, "unaskedIn">): boolean =>
  unaskedIn !== undefined && infoOf(mode).unasked.includes(unaskedIn);

/** The mode that allows only what both allow, and asks whenever one of them does. */
export function narrowestMode(one: Mode | undefined, other: Mode | undefined): Mode | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  const [a, b] = [infoOf(one), infoOf(other)];
  const isWithin = (inner: ModeInfo, outer: ModeInfo) =>
    inner.intents.every((intent) => outer.intents.includes(intent)) &&
    (inner.intents.length < outer.intents.length ||
      inner.unasked.every((kind) => outer.unasked.includes(kind)));
  if (isWithin(a, b)) return one;
  // Each mode allows reading, and all that restrict it allow at most one more intent.
  return isWithin(b, a) ? other : "inspect";
}

const RANK: Readonly<Record<Access, number>> = { read: 0, write: 1, admin: 2 };

export const hasAccess = (granted: Access, act: Pick<AnyAction, "access">): boolean =>
  RANK[act.access] <= RANK[granted];
