export { print, printJson } from "./output.ts";

/** A flag of a command; the source for help, completion and parser. */
export interface Flag {
  readonly summary: string;
  /** The placeholder for the value in the help; a flag without it is a switch. */
  readonly value?: string;
  /** May be repeated. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** The environment variable used when the flag is absent; a list like PATH for a flag with `many`. */
  readonly env?: string;
}

/** The kind of an argument: an action followed by its parameters, a manual topic, or one of these words. */
export type ArgumentKind = "action" | "topic" | readonly string[];

export interface Argument {
  /** As the usage shows it. */
  readonly name: string;
  readonly kind?: ArgumentKind;
  readonly optional?: boolean;
  /** Takes all remaining arguments; implies optional. */
  readonly many?: boolean;
  /** People may type a secret here by mistake, so the command checks it and does not repeat it. */
  readonly unchecked?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends { readonly many: true }
    ? readonly string[]
    : F[K] extends { readonly choices: readonly (infer C)[] }
      ? C | undefined
      : F[K] extends { readonly value: string }
        ? string | undefined
        : boolean;
};

/** The parts of the process that a command may use. */
export type Io = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "cwd">;

export interface Command<F extends Flags = Flags> {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly Argument[];
  readonly flags: F;
  /** Text below the flags in the help. */
  readonly notes?: string;
  /** Only where they differ from those of most commands. */
  readonly exitCodes?: string;
  /** Called for words that cannot be parsed, before the person sees the error. */
  refuse?(words: readonly string[], cause: UsageError, io: Io): void;
  /** The returned number is the exit code. */
  run(input: { readonly args: readonly string[]; readonly flags: FlagValues<F> }, io: Io): Promise<number>;
}

// biome-ignore lint/suspicious/noExplicitAny: `run` makes a command invariant in its flags; only `any` holds them all.
export type AnyCommand = Command<any>;

/** The identity function; it infers the type of `run` from `flags`. */
export const defineCommand = <const F extends Flags>(command: Command<F>): Command<F> => command;

/** The exit codes of commands. */
export const EXIT = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  /** The shell convention for a command ended by Ctrl-C. */
  INTERRUPTED: 130,
} as const;

/** The signals that ask a process to end. */
export const ENDING_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Handles the first signal of each kind, until disposed. */
export function onSignals(signals: readonly NodeJS.Signals[], handle: () => void): Disposable {
  for (const signal of signals) process.once(signal, handle);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, handle);
    },
  };
}

const MAX_COUNT = 999_999_999;
const MAX_PORT = 65_535;

/** The whole number of a flag; throws a UsageError for anything else. */
export function toCount(
  flag: string,
  text: string | undefined,
  { min = 1, max = MAX_COUNT } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && min <= count && count <= max) return count;
  const range = max === MAX_COUNT ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`;
  throw new UsageError(`--${flag} takes ${range}, not '${text}'`, `--${flag} ${Math.max(min, 1)}`);
}

/** The port of --port; 0 picks a free one. */
export const toPort = (text: string | undefined): number | undefined =>
  toCount("port", text, { min: 0, max: MAX_PORT });

/** The person's input is invalid; shown as one line and a hint. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
