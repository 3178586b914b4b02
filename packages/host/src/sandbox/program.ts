import { resolve } from "node:path";
import { ToolError } from "@octant/core";
import { isFile, isProgram } from "../programs/trusted-program.ts";
import type { SandboxedCommand } from "./sandbox.ts";

/** A launcher reports a missing program only on its stderr, so we look first; EXEC_FAILED when it is missing. */
export function findProgram({ argv: [program], env, folder }: SandboxedCommand): string {
  const places = program.includes("/")
    ? [resolve(folder, program)]
    : (env["PATH"] ?? "").split(":").map((path) => resolve(folder, path, program));
  const found = places.find(isProgram);
  if (found !== undefined) return found;
  const reason = places.some(isFile)
    ? "it is not executable (EACCES)"
    : "there is no such program on the PATH (ENOENT)";
  throw new ToolError("EXEC_FAILED", `'${program}' could not be started: ${reason}`, { program });
}
