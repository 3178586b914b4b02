import { attempt, ToolError } from "@octant/core";
import { isOpeningPipe } from "../opening-pipe.ts";
import type { Path } from "../path.ts";
import { collectHead, startFailure } from "../programs/start-failure.ts";
import { startLaunched } from "../programs/start-program.ts";

export interface GitRun {
  readonly argv: readonly string[];
  readonly folder: Path;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  /** null or 128 + n when signal n ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 8_192;
const TIMEOUT_MS = 120_000;
const STALL_MS = 500;
/** Time for git to remove its lock files after SIGTERM. */
const GRACE_MS = 2_000;

/** Runs git to its end, whatever its exit code. Aborting, too much output or too much time ends it and all it started. */
export async function runGit(run: GitRun): Promise<GitOutput> {
  const { argv, folder, env, input, maxBytes, signal } = run;
  signal?.throwIfAborted();
  const [program = "", ...args] = argv;
  // In a group of its own, so that what git starts ends with it.
  const options = { cwd: folder, env, stdio: "pipe", detached: true, windowsHide: true } as const;
  const child = startLaunched(program, args, options);
  let patience: NodeJS.Timeout | undefined;
  // It throws when no process of the group is left.
  const kill = (name: NodeJS.Signals) => attempt(() => child.pid && process.kill(-child.pid, name));
  const end = () => {
    kill("SIGTERM");
    patience = setTimeout(() => kill("SIGKILL"), GRACE_MS);
  };
  const excess = new AbortController();
  const stall = new AbortController();
  const watch = setInterval(() => child.pid && isOpeningPipe(child.pid) && stall.abort(), STALL_MS);
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const stop = AbortSignal.any([excess.signal, stall.signal, deadline, ...(signal ? [signal] : [])]);
  stop.addEventListener("abort", end, { once: true });
  const stdout = collectHead(child.stdout, maxBytes, () => excess.abort());
  const stderr = collectHead(child.stderr, MAX_STDERR_BYTES);
  // git may end before it has read everything, and says why by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", (cause) => reject(startFailure(cause, "git")));
      child.once("close", resolve);
    });
    signal?.throwIfAborted();
    if (excess.signal.aborted) throw tooMuch(maxBytes);
    if (stall.signal.aborted) throw stalled();
    if (deadline.aborted) throw tooSlow();
    return { code, stdout: stdout(), stderr: stderr().toString() };
  } finally {
    clearInterval(watch);
    clearTimeout(patience);
    stop.removeEventListener("abort", end);
  }
}

const tooMuch = (limit: number) =>
  new ToolError("TOO_LARGE", `git output exceeds ${limit} bytes; narrow it with path or ref`, {
    limit,
    what: "bytes of output",
  });

const stalled = () =>
  new ToolError(
    "VCS_ERROR",
    "git waits for a pipe and was ended; remove the file of .git, or the .gitignore or .gitattributes, that is not a file",
    { exit_code: null },
  );

const tooSlow = () =>
  new ToolError("TIMEOUT", `git exceeded ${TIMEOUT_MS} ms and was stopped; narrow the call with path`, {
    after_ms: TIMEOUT_MS,
  });
