import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { rgPath } from "@vscode/ripgrep";

const BYTES_PER_GIBIBYTE = 2 ** 30;

/** The facts needed to compare two runs. */
export function describeMachine(): Readonly<Record<string, string>> {
  const [ripgrep = "?"] = execFileSync(rgPath, ["--version"], { encoding: "utf8" }).split("\n");
  return {
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}`,
    memory: `${(totalmem() / BYTES_PER_GIBIBYTE).toFixed(0)} GiB`,
    kernel: `${type()} ${release()}`,
    ripgrep,
  };
}
