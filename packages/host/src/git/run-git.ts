import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { ToolError } from "@octant/core";
import { errnoOf } from "../system-error.ts";

export interface GitRun {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 8_192;
/** git takes its lock files away when it is asked to end. */
const GRACE_MS = 2_000;

/** Runs git to its end, whatever its exit code. Aborting, too much output or too much time ends it and all it started. */
export async function runGit(run: GitRun): Promise<GitOutput> {
  const { argv, folder, env, input, maxBytes, timeoutMs, signal } = run;
  signal?.throwIfAborted();
  const [program, ...args] = argv;
  // In a group of its own, so that what git starts ends with it.
  const child = spawn(program, args, { cwd: folder, env, stdio: "pipe", detached: true, windowsHide: true });
  const group = createGroup(child);
  let stopped: ToolError | undefined;
  const stop = (error: ToolError) => {
    stopped ??= error;
    group.end();
  };
  const deadline = setTimeout(() => stop(tooSlow(timeoutMs)), timeoutMs);
  signal?.addEventListener("abort", group.end, { once: true });
  const stdout = collect(child.stdout, maxBytes, () => stop(tooMuch(maxBytes)));
  const stderr = collect(child.stderr, MAX_STDERR_BYTES, () => {});
  // git may end before it has read everything, and says why by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  try {
    const code = await ended(child);
    signal?.throwIfAborted();
    if (stopped) throw stopped;
    return { code, stdout: stdout(), stderr: stderr().toString() };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener("abort", group.end);
    group.gone();
  }
}

function createGroup({ pid }: ChildProcessWithoutNullStreams) {
  let patience: NodeJS.Timeout | undefined;
  const kill = (name: NodeJS.Signals) => {
    try {
      if (pid !== undefined) process.kill(-pid, name);
    } catch {
      // Nobody of the group is left.
    }
  };
  return {
    end() {
      kill("SIGTERM");
      patience ??= setTimeout(() => kill("SIGKILL"), GRACE_MS);
    },
    gone() {
      clearTimeout(patience);
    },
  };
}

const ended = (child: ChildProcessWithoutNullStreams): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(startFailure(cause)));
    child.once("close", resolve);
  });

/** Reads everything, so that the writer never waits, and keeps the first `maxBytes`. */
function collect(stream: NodeJS.ReadableStream, maxBytes: number, onExcess: () => void): () => Buffer {
  const kept: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < maxBytes) kept.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.length;
    if (bytes > maxBytes) onExcess();
  });
  return () => Buffer.concat(kept);
}

const SHORTAGES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);
const RETRY_MS = 250;

function startFailure(cause: Error): ToolError {
  if (SHORTAGES.has(errnoOf(cause) ?? "")) {
    const message = "the machine has no room for another process; try again";
    return new ToolError("OVERLOADED", message, { retry_after_ms: RETRY_MS }, { cause });
  }
  const message = "git could not be started; `octant doctor` shows what is wrong";
  return new ToolError("EXEC_FAILED", message, { program: "git" }, { cause });
}

const tooMuch = (limit: number) =>
  new ToolError("TOO_LARGE", `git has more than ${limit} bytes to say; narrow it with path or ref`, {
    limit,
    what: "bytes of output",
  });

const tooSlow = (after_ms: number) =>
  new ToolError("TIMEOUT", `git was not done after ${after_ms} ms and was ended; narrow it with path`, {
    after_ms,
  });
