// A server that starts the commands in its arguments, prints their pids, and waits to be killed.
import { openSync } from "node:fs";
import { createProcesses } from "../../src/processes/processes.ts";

const [folder = "", ...commands] = process.argv.slice(2);
const processes = createProcesses({ folder, env: process.env });
const cwd = { fd: openSync("/", "r"), path: "/" };
for (const command of commands) {
  const pty = command.startsWith("pty:") ? { cols: 80, rows: 24 } : undefined;
  const argv = ["/bin/sh", "-c", command.replace(/^pty:/, "")] as const;
  await processes.start({ argv, cwd, owner: "test", label: command, ...(pty && { pty }) });
}
process.stdout.write("ready\n");
process.stdin.resume();
