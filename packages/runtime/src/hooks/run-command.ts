import { ToolError } from "@octant/core";
import {
  type Confinement,
  type Processes,
  type ProcessInfo,
  type ProcessSpec,
  wholeCharacters,
} from "@octant/host";
import type { HookSettings } from "./hook.ts";

/** Runs hooks as private processes in the sandbox, in the first root. */
export interface HookPlace {
  readonly processes: Pick<Processes, "start" | "exited" | "output" | "kill" | "openExchange">;
  readonly confinement: Pick<Confinement, "start" | "openFolder">;
}

/** How a hook ended. Everything but the two agreed exit codes is a failure. */
export type HookEnd =
  | { readonly kind: "allow" }
  | { readonly kind: "deny"; readonly stderr: string }
  | { readonly kind: "failure"; readonly what: string; readonly stderr: string };

const OWNER = "octant:hooks";
const ALLOW = 0;
const DENY = 2;
/** A hook that prints more is faulty. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 16 * 1024;
const MAX_STDOUT_BYTES = 256 * 1024;

/** The outcome of a program. `problem`: it did not end by itself, or printed too much. */
export interface ProgramEnd {
  readonly exit_code: number | null;
  readonly problem?: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the hook to its end, or until its time is up. Rejects only when the signal ends it, or for a bug. */
export async function runProgram(
  place: HookPlace,
  { command, timeout_ms }: Pick<HookSettings, "command" | "timeout_ms">,
  input: HookInput,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const { processes } = place;
  signal.throwIfAborted();
  let info: ProcessInfo;
  try {
    info = await start(place, command, input);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    const problem = `it could not be started: ${cause.message}`;
    return { exit_code: null, problem, stdout: "", stderr: "" };
  }
  const { proc_id } = info;
  try {
    info = await processes.exited(OWNER, proc_id, timeout_ms, signal);
  } finally {
    if (info.status === "running") await processes.kill(OWNER, proc_id, "SIGKILL");
  }
  const read = (stream: "stdout" | "stderr", bytes: number) =>
    processes.output(OWNER, proc_id, stream).read(0, bytes).bytes.toString("utf8");
  const problem = problemOf(info, timeout_ms);
  return {
    exit_code: info.exit_code,
    ...(problem !== undefined && { problem }),
    stdout: read("stdout", MAX_STDOUT_BYTES),
    stderr: read("stderr", MAX_STDERR_BYTES),
  };
}

/** How a hook before or after a call ended. */
export async function runCommand(
  place: HookPlace,
  hook: HookSettings,
  input: HookInput,
  signal: AbortSignal,
): Promise<HookEnd> {
  const { exit_code, problem, stderr } = await runProgram(place, hook, input, signal);
  if (problem === undefined && exit_code === ALLOW) return { kind: "allow" };
  if (problem === undefined && exit_code === DENY) return { kind: "deny", stderr };
  return { kind: "failure", what: problem ?? `exit code ${exit_code}`, stderr };
}

async function start(
  { processes, confinement }: HookPlace,
  command: string,
  input: HookInput,
): Promise<ProcessInfo> {
  using folder = confinement.openFolder(confinement.start);
  const argv = ["/bin/sh", "-c", command] as const;
  return await processes.start({ argv, cwd: folder, ...input, owner: OWNER, label: command });
}

function problemOf(info: ProcessInfo, timeoutMs: number): string | undefined {
  const { status, signal, stdout_bytes, stderr_bytes } = info;
  if (status === "running") return `it took longer than ${timeoutMs} ms`;
  if (stdout_bytes + stderr_bytes > MAX_OUTPUT_BYTES) return `it printed more than ${MAX_OUTPUT_BYTES} bytes`;
  if (status !== "exited" || signal !== null) return `it was ended by ${signal ?? "force"}`;
  return undefined;
}

/** The facts about a call that a hook receives. */
export interface HookFacts {
  /** `fs.read` or `mcp__server__tool`. */
  readonly name: string;
  readonly session: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The call's answer, for post-hooks. */
  readonly answer?: { readonly output: unknown };
}

/** The facts as a program gets them. */
export interface HookInput extends Pick<ProcessSpec, "exchange"> {
  readonly env: Readonly<Record<string, string>>;
  /** All of it, as JSON. */
  readonly stdin: Buffer;
}

/** A variable of the environment cannot hold more than twice as much. */
const MAX_VARIABLE_BYTES = 64 * 1024;

export function toHookInput({ name, session, input, answer }: HookFacts): HookInput {
  const inputJson = JSON.stringify(input);
  const outputJson = answer && (JSON.stringify(answer.output) ?? "null");
  return {
    env: {
      HANZO_TOOL_NAME: name,
      HANZO_SESSION_ID: session,
      ...toVariable("HANZO_TOOL_INPUT", inputJson),
      ...(outputJson !== undefined && toVariable("HANZO_TOOL_OUTPUT", outputJson)),
    },
    stdin: Buffer.from(
      outputJson === undefined ? inputJson : `{"input":${inputJson},"output":${outputJson}}`,
    ),
  };
}

function toVariable(name: string, json: string): Record<string, string> {
  const bytes = Buffer.from(json);
  if (bytes.length <= MAX_VARIABLE_BYTES) return { [name]: json };
  const beginning = bytes.subarray(0, MAX_VARIABLE_BYTES);
  return {
    [name]: beginning.toString("utf8", 0, wholeCharacters(beginning)),
    [`${name}_TRUNCATED`]: "1",
  };
}
