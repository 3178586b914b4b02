import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
  spawn,
  spawnSync,
} from "node:child_process";
import type { Readable } from "node:stream";
import type { TrustedProgram } from "./trusted-program.ts";

/** The only file that starts processes; test/spawn-sites.test.ts enforces it. */
interface Start<Program extends string> {
  (
    program: Program,
    args: readonly string[],
    options: SpawnOptionsWithoutStdio,
  ): ChildProcessWithoutNullStreams;
  (
    program: Program,
    args: readonly string[],
    options: SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe>,
  ): ChildProcessByStdio<null, Readable, Readable>;
  (program: Program, args: readonly string[], options: SpawnOptions): ChildProcess;
}

/** Starts a program of ours or of the system outside the sandbox. */
export const startTrusted: Start<TrustedProgram> = spawn;

/** Starts a command that `Sandbox.wrap` launched; it runs free only where the machine or the settings have no sandbox. */
export const startLaunched: Start<string> = spawn;

/** Runs a trusted program to its end; says whether it succeeded. */
export const succeeds = (program: TrustedProgram, args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;

interface RunOptions {
  readonly input: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** The output of a trusted program; undefined when it fails or takes too long. */
export function printedBy(
  program: TrustedProgram,
  args: readonly string[],
  { input, env, timeoutMs }: RunOptions,
): string | undefined {
  const { status, stdout } = spawnSync(program, args, {
    input,
    env,
    timeout: timeoutMs,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
  return status === 0 ? stdout : undefined;
}
