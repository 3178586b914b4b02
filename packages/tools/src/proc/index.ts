import { defineTool } from "@octant/core";
import type { ProcWorkspace } from "./answer.ts";
import { exec } from "./exec.ts";
import { input } from "./input.ts";
import { kill } from "./kill.ts";
import { logs } from "./logs.ts";
import { ps } from "./ps.ts";

export type { ProcWorkspace } from "./answer.ts";

/** Runs commands without hangs, orphans or lost output. */
export const proc = (workspace: ProcWorkspace) =>
  defineTool({
    name: "proc",
    summary: "Run commands, send them input, read their output and stop them.",
    actions: {
      exec: exec(workspace),
      input: input(workspace),
      ps: ps(workspace),
      kill: kill(workspace),
      logs: logs(workspace),
    },
    backends: () => [{ name: "supervisor", available: process.platform !== "win32" }],
  });
