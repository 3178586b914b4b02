import type { ProcessLimits } from "./cgroup.ts";
import type { SpoolCaps } from "./spool.ts";

/** What the server and its supervisor say to each other: requests with a number, replies to them, and events. */

export type StreamName = "stdout" | "stderr";
export const STREAMS = ["stdout", "stderr"] as const satisfies readonly StreamName[];

/** `killed` and `timed_out` say why it ended, whatever exit code or signal it ended with. */
export type ProcessStatus = "running" | "exited" | "killed" | "timed_out";

/** What is known when a process starts. */
export interface StartRecord {
  readonly proc_id: string;
  readonly owner: string;
  /** As the caller wrote it. */
  readonly command: string;
  readonly pid: number;
  readonly started_at: number;
  readonly pty: boolean;
  /** The server that started it. */
  readonly server: string;
  readonly caps: SpoolCaps;
}

/** What only the start itself tells. */
export type Started = Pick<StartRecord, "pid" | "started_at">;

/** What is known when it has ended. */
export interface EndRecord {
  readonly status: Exclude<ProcessStatus, "running">;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly ended_at: number;
  /** Somebody the process started still holds its output open. */
  readonly output_open: boolean;
  /** Why output is missing, such as ENOSPC. */
  readonly output_failure: string | null;
  /** The limit that it, or something that it started, was killed for. */
  readonly limit: LimitName | null;
  /** In bytes; null when there was nobody left to count. */
  readonly printed: Readonly<Record<StreamName, number>> | null;
}

export type LimitName = "memory";

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** `file`: a file with all of the input, which is removed when it was opened. */
export type InputSource = "closed" | "open" | { readonly file: string };

export interface StartOrder extends Omit<StartRecord, "pid" | "started_at" | "server" | "caps" | "pty"> {
  readonly argv: readonly [string, ...string[]];
  /** What to start: `argv[0]`, or where that was found, which saves the child a search of the PATH. */
  readonly program: string;
  /** What to change into; it may be a name for an open folder of the server. */
  readonly cwd: string;
  /** Where the command runs; a launcher changes into it by itself. */
  readonly folder: string;
  /** `argv` is a sandbox's launcher, which tells a death by signal N as exit code 128 + N. */
  readonly launched: boolean;
  /** What to quarantine when the server dies; null where no sandbox guards protected entries. */
  readonly guardFile: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: InputSource;
  readonly pty: TerminalSize | null;
  readonly timeoutMs: number | null;
}

export interface Requests {
  /** With its end, when that came at once. */
  start: { readonly ask: StartOrder; readonly answer: Started & { readonly end: EndRecord | null } };
  /** `base64` null: the end of the input. */
  input: {
    readonly ask: { readonly proc_id: string; readonly base64: string | null };
    readonly answer: null;
  };
  resize: {
    readonly ask: { readonly proc_id: string } & TerminalSize;
    readonly answer: null;
  };
  /** Without a signal: SIGTERM, and SIGKILL for what is left after a grace. */
  kill: {
    readonly ask: { readonly proc_id: string; readonly signal: NodeJS.Signals | null };
    readonly answer: null;
  };
  /** Whether to tell of new output. */
  watch: {
    readonly ask: { readonly proc_id: string; readonly on: boolean };
    readonly answer: null;
  };
}

export type RequestName = keyof Requests;

/** Why a request failed, in a form that the server turns into a ToolError. */
export type Refusal =
  | { readonly kind: "not_started"; readonly errno: string }
  | { readonly kind: "not_kept"; readonly errno: string }
  | { readonly kind: "no_process" }
  | { readonly kind: "no_input" }
  | { readonly kind: "no_terminal" }
  | { readonly kind: "input_full"; readonly limit: number };

/** The first message: who the server is and where the output goes. */
export interface Hello {
  readonly server: string;
  readonly folder: string;
  readonly caps: SpoolCaps;
  readonly limits: ProcessLimits;
}

export type ToSupervisor =
  | { readonly type: "hello"; readonly hello: Hello }
  | { readonly type: "close" }
  | {
      [N in RequestName]: {
        readonly type: "request";
        readonly id: number;
        readonly name: N;
        readonly ask: Requests[N]["ask"];
      };
    }[RequestName];

export type ToServer =
  | { readonly type: "reply"; readonly id: number; readonly answer: Requests[RequestName]["answer"] }
  | { readonly type: "refusal"; readonly id: number; readonly refusal: Refusal }
  | { readonly type: "output"; readonly proc_id: string }
  /** It was asked to close, and will do so whatever becomes of the server. */
  | { readonly type: "closing" }
  | { readonly type: "ended"; readonly proc_id: string; readonly end: EndRecord };

/** In the environment of every process that a server starts, its supervisor too, so that it is found wherever it went. */
export const SERVER_MARK = "OCTANT_SERVER";
export const PROCESS_MARK = "OCTANT_PROC";
