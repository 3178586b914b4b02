import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { LAUNCHER } from "./published-command.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OctantOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly node?: string | undefined;
  readonly launcher?: string;
  readonly input?: string;
}

/** The real command, as a shell would start it. */
export function startOctant(args: readonly string[], options: OctantOptions): ChildProcessWithoutNullStreams {
  const { cwd, env = process.env, node = process.execPath, launcher = LAUNCHER } = options;
  return spawn(node, [launcher, ...args], { cwd, env });
}

/** Runs the command to its end. */
export async function runOctant(args: readonly string[], options: OctantOptions): Promise<Ended> {
  const child = startOctant(args, options);
  child.stdin.end(options.input);
  return ended(child);
}

/** The output and exit of a command; waits until its stdout is closed everywhere. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code, signal, stdout, stderr };
}
