import { ToolError } from "@octant/core";
import type { Confinement, Processes, ProcessInfo } from "@octant/host";
import type { HookSettings } from "./hook.ts";
import type { HookInput } from "./hook-facts.ts";

/** Runs hooks as private processes in the sandbox, in the first root. */
export interface HookPlace {
  readonly processes: Pick<Processes, "start" | "exited" | "output" | "kill">;
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
/** A hook that prints more is not well. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 16 * 1024;

/** Runs the hook to its end, or until its time is up. Rejects only when the signal ends it, or for a bug. */
export async function runCommand(
  place: HookPlace,
  { command, timeout_ms }: HookSettings,
  input: HookInput,
  signal: AbortSignal,
): Promise<HookEnd> {
  const { processes } = place;
  signal.throwIfAborted();
  let info: ProcessInfo;
  try {
    info = await start(place, command, input);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return { kind: "failure", what: `it could not be started: ${cause.message}`, stderr: "" };
  }
  const { proc_id } = info;
  try {
    info = await processes.exited(OWNER, proc_id, timeout_ms, signal);
  } finally {
    if (info.status === "running") await processes.kill(OWNER, proc_id, "SIGKILL");
  }
  const stderr = processes.output(OWNER, proc_id, "stderr").read(0, MAX_STDERR_BYTES).bytes.toString("utf8");
  return toEnd(info, timeout_ms, stderr);
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

function toEnd(info: ProcessInfo, timeoutMs: number, stderr: string): HookEnd {
  const { status, exit_code, signal, stdout_bytes, stderr_bytes } = info;
  const failure = (what: string): HookEnd => ({ kind: "failure", what, stderr });
  if (status === "running") return failure(`it took longer than ${timeoutMs} ms`);
  if (stdout_bytes + stderr_bytes > MAX_OUTPUT_BYTES)
    return failure(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
  if (status !== "exited" || signal !== null) return failure(`it was ended by ${signal ?? "force"}`);
  if (exit_code === ALLOW) return { kind: "allow" };
  return exit_code === DENY ? { kind: "deny", stderr } : failure(`exit code ${exit_code}`);
}
