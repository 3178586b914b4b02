import { ToolError } from "@octant/core";
import type { ProcessLimits } from "./cgroup.ts";
import { RequestRefused } from "./protocol.ts";
import { SupervisorLost } from "./supervisor-client.ts";

/** Why a process could not be started, as the caller should see it. */
export function toStartError(cause: unknown, program: string, { memoryBytes }: ProcessLimits): unknown {
  if (!(cause instanceof RequestRefused) || cause.refusal.kind !== "not_started")
    return toRequestError(cause, "");
  const { errno } = cause.refusal;
  if (errno === "ENOMEM" && memoryBytes !== undefined) {
    const message = `'${program}' needs more than the ${memoryBytes} bytes of memory that a command may use`;
    return new ToolError("LIMIT_EXCEEDED", message, { limit: memoryBytes, what: "memory" }, { cause });
  }
  const message = `'${program}' could not be started: ${REASONS[errno] ?? errno}`;
  return new ToolError("EXEC_FAILED", message, { program }, { cause });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program on the PATH, or the interpreter in its first line is missing (ENOENT)",
  EACCES: "it is not executable, or the operating system refuses it (EACCES)",
  ENOEXEC: "it is not a program for this machine; a script needs a first line such as #!/bin/sh (ENOEXEC)",
  E2BIG:
    "the command and its environment are too long for the system; put the text into a file or stdin (E2BIG)",
  EAGAIN: "the system allows no more processes; end some and try again (EAGAIN)",
  ENOMEM: "there is not enough memory (ENOMEM)",
  MODULE_NOT_FOUND: "there is no terminal support for this platform; leave pty out",
};

/** Why a running process could not be reached. */
export function toRequestError(cause: unknown, proc_id: string): unknown {
  if (cause instanceof SupervisorLost) {
    const message = "the process supervisor died and took its processes along; start them again";
    return new ToolError("INTERRUPTED", message, {}, { cause });
  }
  if (!(cause instanceof RequestRefused)) return cause;
  switch (cause.refusal.kind) {
    case "no_process":
      return invalid("proc_id", `${proc_id} does not run any more; proc.logs has its output`);
    case "no_input":
      return invalid("proc_id", `the input of ${proc_id} is closed; background or pty keep it open`);
    case "no_terminal":
      return invalid("resize", `${proc_id} has no terminal; start it with pty`);
    case "input_full": {
      const { limit } = cause.refusal;
      const message = `${proc_id} does not read its input; ${limit} bytes are waiting already`;
      return new ToolError("LIMIT_EXCEEDED", message, { limit, what: "waiting input" });
    }
    case "not_kept": {
      const { errno } = cause.refusal;
      if (errno === "ENOSPC" || errno === "EDQUOT")
        return new ToolError("NO_SPACE", "no disk space for its output; it was not run", {}, { cause });
      return new ToolError("IO_ERROR", `its output cannot be stored (${errno}); it was not run`, { errno });
    }
    case "not_started":
      return cause;
  }
}

const invalid = (path: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path, message }] });
