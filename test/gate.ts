import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A pipe in the folder: `wait` is a command that uses no processor time until `open`. */
export function createGate(folder: string) {
  const path = join(folder, "gate");
  execFileSync("mkfifo", [path]);
  // Opened for both, it waits for nobody, and keeps what is written for a command that is late.
  const gate = openSync(path, "r+");
  onTestFinished(() => {
    closeSync(gate);
    rmSync(path);
  });
  return { wait: "read -r _ < gate", open: () => void writeSync(gate, "\n") };
}
