import type { ToolError } from "@octant/core";
import type { PreparedLaunch } from "../sandbox/sandbox.ts";
import type { ProcessLimits } from "./cgroup.ts";
import type { SpoolCaps } from "./spool.ts";

/** The protocol between server and supervisor: numbered requests, their replies, and events. */

export type StreamName = "stdout" | "stderr";
export const STREAMS = ["stdout", "stderr"] as const satisfies readonly StreamName[];

/** `killed` and `timed_out` give the reason for its end, regardless of exit code or signal. */
export type ProcessStatus = "running" | "exited" | "killed" | "timed_out";

/** The record written when a process starts. */
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

/** The fields known only after the start. */
export type Started = Pick<StartRecord, "pid" | "started_at">;

/** The record written when it has ended. */
export interface EndRecord {
  readonly status: Exclude<ProcessStatus, "running">;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly ended_at: number;
  /** A descendant still holds its output open. */
  readonly output_open: boolean;
  /** Why output is missing, such as ENOSPC. */
  readonly output_failure: string | null;
  /** The limit that it, or something that it started, was killed for. */
  readonly limit: LimitName | null;
  /** In bytes; null when the counting supervisor died. */
  readonly printed: Readonly<Record<StreamName, number>> | null;
}

export type LimitName = "memory";

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** `file`: a file with all of the input, which is removed when it was opened. */
export type InputSource = "closed" | "open" | { readonly file: string };

export interface StartOrder extends Pick<StartRecord, "proc_id" | "owner" | "command"> {
  readonly argv: readonly [string, ...string[]];
  /** The caller's `argv[0]`, for messages. */
  readonly name: string;
  /** The program: `argv[0]` or its resolved path, which saves a PATH search. */
  readonly program: string;
  /** The working folder; may be a descriptor path of the server. */
  readonly cwd: string;
  /** Where the command runs; a launcher changes into it by itself. */
  readonly folder: string;
  /** `argv` is a sandbox launcher, which reports death by signal N as exit code 128 + N. */
  readonly launched: boolean;
  /** The entries to quarantine when the server dies; null where no sandbox protects entries. */
  readonly guardFile: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: InputSource;
  readonly pty: TerminalSize | null;
  readonly timeoutMs: number | null;
  /** How to run it in a sandbox that was prepared, and to prepare the next; null where it needs one of its own. */
  readonly prepared: PreparedLaunch | null;
}

export interface Requests {
  start(order: StartOrder): Promise<Started>;
  /** `base64` null: the end of the input. */
  input(to: { readonly proc_id: string; readonly base64: string | null }): Promise<void>;
  resize(to: { readonly proc_id: string } & TerminalSize): Promise<void>;
  /** Without a signal: SIGTERM, then SIGKILL after a grace period. */
  kill(what: { readonly proc_id: string; readonly signal: NodeJS.Signals | null }): Promise<void>;
  /** Whether to report new output. */
  watch(what: { readonly proc_id: string; readonly on: boolean }): Promise<void>;
}

export type RequestName = keyof Requests;
export type RequestOf<N extends RequestName> = Parameters<Requests[N]>[0];

/** The first message: the server's id and the output folder. */
export interface Hello {
  readonly server: string;
  readonly folder: string;
  readonly caps: SpoolCaps;
  readonly limits: ProcessLimits;
}

export interface Request {
  readonly type: "request";
  readonly id: number;
  readonly name: RequestName;
  /** The argument of the request of that name. */
  readonly ask: RequestOf<RequestName>;
}

export type ToSupervisor =
  | { readonly type: "hello"; readonly hello: Hello }
  | { readonly type: "close" }
  | Request;

export type ToServer =
  | { readonly type: "reply"; readonly id: number; readonly answer: Started | undefined }
  | {
      readonly type: "refusal";
      readonly id: number;
      readonly error: Pick<ToolError, "code" | "message" | "details">;
    }
  | { readonly type: "output"; readonly proc_id: string }
  /** Confirms the close request; it closes even if the server dies. */
  | { readonly type: "closing" }
  | { readonly type: "ended"; readonly proc_id: string; readonly end: EndRecord };

/** In the environment of every process that a server starts, its supervisor too, so that it is found wherever it went. */
export const SERVER_MARK = "OCTANT_SERVER";
export const PROCESS_MARK = "OCTANT_PROC";
