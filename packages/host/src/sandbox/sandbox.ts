import type { Denials, ProgramLimits } from "../denials.ts";
import type { Path } from "../path.ts";
import type { StateFolder } from "../state.ts";
import type { Container } from "./container.ts";
import type { Exchange } from "./exchange.ts";
import type { Mount } from "./mount.ts";
import type { SandboxLevel, SandboxMode, SandboxSettings } from "./settings.ts";
import type { Stranded } from "./stranded.ts";

export interface SandboxStatus {
  readonly mode: SandboxMode;
  readonly level: SandboxLevel | "off";
  /** The guarantee of the level, in one sentence for people. */
  readonly detail: string;
  readonly container: Container | null;
  readonly tried: readonly Trial[];
  /** Why commands are refused: the settings ask for more than this machine has. */
  readonly unmet?: string;
  /** The configured limits that are not enforced here. */
  readonly limits?: string;
}

export interface Trial {
  readonly level: SandboxLevel;
  readonly works: boolean;
  readonly why: string;
}

export interface SandboxedCommand {
  readonly argv: readonly [string, ...string[]];
  /** The real path of the folder it runs in. */
  readonly folder: Path;
  /** Its whole environment, built from an allow list by the caller. */
  readonly env: Readonly<Record<string, string>>;
  /** It runs on its own terminal. */
  readonly pty: boolean;
  /** Narrows only. */
  readonly network?: "off";
  /** One of our own programs, such as git without hooks and filters: it sees the person's settings for it. */
  readonly isOurs?: true;
  /** For those of our own programs that must change protected entries, such as git switch. */
  readonly changesProtected?: boolean;
  /** For our own programs that only read: no mount can be written, and `besides` are shown too. */
  readonly readOnly?: boolean;
  /** From `openExchange`. */
  readonly exchange?: Exchange | undefined;
  /** Places elsewhere that it has to write to, such as the repository of a linked worktree. */
  readonly besides?: readonly Path[];
}

/** How a level starts a command. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  /** Where `argv[0]` was found, when that is known. */
  readonly program?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: Path;
  /**
   * The process that is started only waits for the command and ends with its exit code, 128 + n for signal n. A signal to it
   * ends everything at once, so a graceful one must go to the processes below it.
   */
  readonly launcher: boolean;
  /** The same command in a sandbox that was started before; undefined when the command needs one of its own. */
  prepared?(): PreparedLaunch | undefined;
}

/** A sandbox without a command: it can be started early, and waits for one on its standard input. */
export interface PreparedLaunch {
  readonly argv: readonly [string, ...string[]];
  /** Changes with everything that decides what the sandbox shows, so that one prepared under another key is not used. */
  readonly key: string;
  /** For its standard input: the command, its environment and its folder. */
  readonly order: string;
  /** A file that only the other way to start the command would read and remove. */
  readonly unused: string | null;
}

/** A way to isolate a command, on a machine that supports it. */
export interface Level {
  readonly level: SandboxLevel;
  /** The guarantee of the level, in one sentence for people. */
  readonly detail: string;
  /** Commands see a composed tree with a private temp folder. */
  readonly binds: boolean;
  launch(command: SandboxedCommand, place: CommandPlace): Launch;
}

export interface CommandPlace {
  readonly mounts: readonly Mount[];
  /** A folder of ours, bound at EXCHANGE. */
  readonly exchange?: string | undefined;
  /** Not the machine's. */
  readonly ownNetwork: boolean;
  /** Put over `mounts`, for this one command; only bubblewrap can. */
  readonly over?: readonly Mount[];
}

/** How to start a command instead of by itself. */
export interface LaunchedCommand extends Launch {
  /** For the supervisor: the entries to quarantine if the server dies. Absent where nothing is guarded. */
  readonly guardFile?: string;
  /**
   * Call when the command has ended, or could not be started. Returns the protected entries that commands created
   * meanwhile and that were moved out of the project.
   */
  release(): readonly Path[];
  /** Call when the command has ended: what it wrote to the sandbox's own home and temp folders. */
  stranded?(): readonly Stranded[];
}

/** A program isolated from the machine, such as a browser or a pack: it sees the system's programs, and the files named here. */
export interface ApartCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Where the program is installed, and other places that it reads; shown to it wherever they are. */
  readonly reads: readonly Path[];
  /** Places that it writes; the same path leads to them inside and outside. `/tmp` is removed when it ends. */
  readonly writes: readonly Path[];
  /** The socket of an HTTP proxy. Inside, it listens at `APART_PROXY`, and there is no other network; none without it. */
  readonly proxySocket?: string | undefined;
  /** How many descriptors it inherits, from number 3 on. */
  readonly descriptors: number;
}

/** The consequences of running commands without a sandbox. */
export interface Unconfined {
  /** In one sentence for people, with advice. */
  readonly reason: string;
  /** The person has accepted it, for this machine or by their settings. */
  readonly accepted: boolean;
  /** For the answer to a command; absent where the process itself is confined. */
  readonly note?: string | undefined;
  /** The outer confinement of the process that the settings name, such as a container. */
  readonly by?: string | undefined;
}

export interface Sandbox {
  /** Tests the machine by real probes, once; later calls get the same answer. */
  status(): Promise<SandboxStatus>;
  /** How the programs of the running call are confined, beyond the settings. */
  limits(): ProgramLimits;
  /** Undefined where commands are confined. */
  unconfined(): Promise<Unconfined | undefined>;
  /** SANDBOX_UNAVAILABLE when the required level is missing; EXEC_FAILED when the program does not exist. */
  wrap(command: SandboxedCommand): Promise<LaunchedCommand>;
  /** Undefined where the machine has no sandbox that can do this; SANDBOX_UNAVAILABLE as with `wrap`. */
  wrapApart(command: ApartCommand): Promise<LaunchedCommand | undefined>;
  /** A folder that Octant shares with the one command it is passed to. */
  openExchange(): Promise<Exchange>;
  /** Makes this protected folder for Octant itself: no process on this workspace takes it for a command's and moves it away. */
  allowProtected(path: Path): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxOptions {
  readonly roots: readonly Path[];
  readonly settings: SandboxSettings;
  /** The server's; where home, caches and toolchains are is read from it, and nothing passed on. */
  readonly env: NodeJS.ProcessEnv;
  readonly state: StateFolder;
  /** The denials for the running call; none when absent. */
  readonly denials?: Pick<Denials, "masks" | "programLimits">;
  /** The levels that may be used; all when absent. */
  readonly levels?: readonly SandboxLevel[];
  /** Receives warnings for the person. */
  warn?(message: string): void;
}
