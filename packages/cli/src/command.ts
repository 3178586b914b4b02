/** A flag of a command. The help, the completion and the parser read it from here. */
export interface Flag {
  readonly summary: string;
  /** What stands for the value in the help; a flag without it is a switch. */
  readonly value?: string;
  /** May be given more than once. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** The environment variable that stands in for the flag; of a flag with `many` it is a list like PATH. */
  readonly env?: string;
}

/** What an argument names, for the completion: an action with its parameters behind it, what has a manual, or a word. */
export type ArgumentKind = "action" | "topic" | readonly string[];

export interface Argument {
  /** As the usage shows it. */
  readonly name: string;
  readonly kind?: ArgumentKind;
  readonly optional?: boolean;
  /** Takes all that follow; implies optional. */
  readonly many?: boolean;
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

/** The part of the process that a command may touch. */
export type Io = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "cwd">;

export interface Command<F extends Flags = Flags> {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly Argument[];
  readonly flags: F;
  /** What the help says below the flags. */
  readonly notes?: string;
  /** Where they differ from those that most commands have. */
  readonly exitCodes?: string;
  /** The number it comes to is the exit code. */
  run(input: { readonly args: readonly string[]; readonly flags: FlagValues<F> }, io: Io): Promise<number>;
}

// biome-ignore lint/suspicious/noExplicitAny: `run` makes a command invariant in its flags; only `any` holds them all.
export type AnyCommand = Command<any>;

/** Returns its argument; it exists so that `run` is typed from `flags`. */
export const defineCommand = <const F extends Flags>(command: Command<F>): Command<F> => command;

/** The numbers a command ends with. */
export const EXIT = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  /** What a shell says of a command that Ctrl-C has ended. */
  INTERRUPTED: 130,
} as const;

/** How a process is asked to end. */
export const ENDING_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** What the person typed cannot be done; shown as one line and a hint. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
