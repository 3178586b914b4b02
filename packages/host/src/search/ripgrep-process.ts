import type { ChildProcessByStdio } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { ToolError } from "@octant/core";
import { collectHead, startFailure } from "../programs/start-failure.ts";
import { startTrusted } from "../programs/start-program.ts";
import { bundledProgram } from "../programs/trusted-program.ts";
import { watchRipgrep } from "./ripgrep-watch.ts";

export interface RipgrepRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** The descriptor that ripgrep reads as its standard input. */
  readonly stdin?: number;
  readonly signal: AbortSignal;
}

const MAX_STDERR_BYTES = 8_192;
const BAD_ARGUMENTS = 2;

/** Yields ripgrep's output. Leaving the loop or aborting the signal kills it, and it has exited when this returns. */
export async function* runRipgrep({
  program,
  args,
  cwd,
  env,
  stdin,
  signal,
}: RipgrepRun): AsyncGenerator<Buffer, void> {
  signal.throwIfAborted();
  const child = startTrusted(bundledProgram(program), args, {
    cwd,
    env: safeEnvironment(env),
    stdio: [stdin ?? "ignore", "pipe", "pipe"],
    windowsHide: true,
    // The types have no overload for a descriptor beside two pipes.
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  let stopped: ToolError | undefined;
  const stop = (error: ToolError) => {
    stopped = error;
    kill();
  };
  using _watch = watchRipgrep(child.pid, stop);
  const ended = new Promise<Ending>((resolve) => {
    child.on("error", (error) => resolve({ error }));
    child.once("close", (code) => resolve({ code }));
  });
  const complaint = collectHead(child.stderr, MAX_STDERR_BYTES);
  try {
    for await (const chunk of child.stdout) yield chunk;
    const ending = await ended;
    signal.throwIfAborted();
    if (stopped) throw stopped;
    checkEnding(ending, program, complaint().toString());
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
    await ended;
  }
}

type Ending = { readonly error: Error } | { readonly code: number | null };

/**
 * Where the person's own ignore file is, and nothing else: RIPGREP_CONFIG_PATH names options that start programs, and
 * the rest may hold secrets.
 */
const safeEnvironment = ({ HOME, XDG_CONFIG_HOME }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...(HOME !== undefined && { HOME }),
  ...(XDG_CONFIG_HOME !== undefined && { XDG_CONFIG_HOME }),
});

function checkEnding(ending: Ending, program: string, complaint: string): void {
  if ("error" in ending)
    throw existsSync(program) ? startFailure(ending.error, "ripgrep") : ripgrepMissing(ending.error);
  if (ending.code === null) {
    const message = "ripgrep was killed from outside or crashed before it was done; try again";
    throw new ToolError("EXEC_FAILED", message, { program: "ripgrep" });
  }
  // It also ends with 2 when a file cannot be read, but then it is silent, as we ask it to be.
  if (ending.code === BAD_ARGUMENTS && complaint) throw badArguments(complaint);
}

export const ripgrepMissing = (cause: unknown): ToolError =>
  new ToolError(
    "UNSUPPORTED",
    "ripgrep is not installed for this platform; run `npm install --include=optional` where Octant is installed",
    { what: "ripgrep", how: "npm install --include=optional" },
    { cause },
  );

const PATTERN_HINT =
  "\n(fixed: true takes the pattern as plain text, multiline: true lets it match line ends)";

function badArguments(complaint: string): ToolError {
  const reason = complaint.replaceAll(/^rg: /gm, "").trim();
  const path = reason.startsWith("error parsing glob") ? "glob" : "pattern";
  const message = `ripgrep does not take this ${path}: ${reason}${path === "pattern" ? PATTERN_HINT : ""}`;
  return new ToolError("INVALID_ARGUMENT", message, { issues: [{ path, message: reason }] });
}
