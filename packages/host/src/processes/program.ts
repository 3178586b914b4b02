import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { StartOrder } from "./protocol.ts";

/** A terminal starts anything and lets it print that it is not there, so we look first; throws the system's error. */
export function checkProgram({
  argv: [program],
  env,
  folder,
}: Pick<StartOrder, "argv" | "env" | "folder">): void {
  if (program.includes("/")) return void checkFile(isAbsolute(program) ? program : join(folder, program));
  let failure: unknown;
  for (const path of (env["PATH"] ?? "").split(":")) {
    try {
      return void checkFile(join(path || folder, program));
    } catch (cause) {
      failure = cause;
    }
  }
  throw failure;
}

function checkFile(path: string): void {
  accessSync(path, constants.X_OK);
  if (statSync(path).isDirectory()) throw Object.assign(new Error("a folder"), { code: "EACCES" });
}
