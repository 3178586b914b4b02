import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { main as Main } from "../packages/cli/src/main.ts";
import type { Ended, OctantOptions } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

/**
 * Runs the built command in this process, with its own streams, folder and environment. For tests of what a command
 * does and prints; starting a process takes ten times as long. One at a time: the folder is that of the whole process.
 */
export async function callOctant(
  args: readonly string[],
  {
    cwd,
    env = process.env,
    input = "",
    isTTY = false,
  }: Pick<OctantOptions, "cwd" | "env" | "input"> & { /** Of stdout and stderr. */ readonly isTTY?: boolean },
): Promise<Ended> {
  const main = await loadMain();
  const stream = () => Object.assign(new PassThrough(), isTTY && { isTTY, columns: 80 });
  const [stdout, stderr] = [stream(), stream()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const before = process.cwd();
  process.chdir(cwd);
  try {
    const stdin = Readable.from(input === "" ? [] : [input]);
    // The commands use only what these streams have; the rest of the types is about terminals.
    await main(args, { stdin, stdout, stderr, env, cwd: () => cwd } as unknown as NodeJS.Process);
  } finally {
    process.chdir(before);
  }
  // The command sets the exit code of its process, which is ours.
  const code = Number(process.exitCode);
  process.exitCode = undefined;
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, signal: null, stdout: out, stderr: err };
}

/** As the launcher does it. */
async function loadMain(): Promise<typeof Main> {
  const folder = dirname(dirname(LAUNCHER));
  const built = join(folder, "dist/main.js");
  const source = join(folder, "src/main.ts");
  return (await import(pathToFileURL(existsSync(source) ? source : built).href)).main;
}
