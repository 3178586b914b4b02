import { ToolError } from "@octant/core";
import { errnoOf } from "../errno.ts";
import type { Path } from "../path.ts";
import { startLaunched } from "../programs/start-program.ts";

export interface GitRun {
  readonly argv: readonly string[];
  readonly folder: Path;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  /** null or 128 + n when signal n ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 8_192;
/** git takes its lock files away when it is asked to end. */
const GRACE_MS = 2_000;

/** Runs git to its end, whatever its exit code. Aborting, too much output or too much time ends it and all it started. */
export async function runGit(run: GitRun): Promise<GitOutput> {
  const { maxBytes, timeoutMs, signal } = run;
  signal?.throwIfAborted();
  let stopped: ToolError | undefined;
  const stop = (error: ToolError) => {
    stopped ??= error;
    program.end();
  };
  const collected = {
    stdout: collect(maxBytes, () => stop(tooMuch(maxBytes))),
    stderr: collect(MAX_STDERR_BYTES, () => {}),
  };
  const program = startChild(run, (stream, bytes) => collected[stream].add(bytes));
  const deadline = setTimeout(() => stop(tooSlow(timeoutMs)), timeoutMs);
  signal?.addEventListener("abort", program.end, { once: true });
  try {
    const code = await program.ended;
    signal?.throwIfAborted();
    if (stopped) throw stopped;
    return { code, stdout: collected.stdout.all(), stderr: collected.stderr.all().toString() };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener("abort", program.end);
  }
}

/** As a child of this process, in a group of its own, so that what git starts ends with it. */
function startChild(
  { argv: [program = "", ...args], folder, env, input }: GitRun,
  onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void,
) {
  const child = startLaunched(program, args, {
    cwd: folder,
    env,
    stdio: "pipe",
    detached: true,
    windowsHide: true,
  });
  let patience: NodeJS.Timeout | undefined;
  const kill = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // No process of the group is left.
    }
  };
  child.stdout.on("data", (bytes: Buffer) => onOutput("stdout", bytes));
  child.stderr.on("data", (bytes: Buffer) => onOutput("stderr", bytes));
  // git may end before it has read everything, and says why by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", (cause) => reject(startFailure(cause)));
    child.once("close", resolve);
  }).finally(() => clearTimeout(patience));
  return {
    ended,
    end() {
      kill("SIGTERM");
      patience ??= setTimeout(() => kill("SIGKILL"), GRACE_MS);
    },
  };
}

/** Reads everything, so that the writer never waits, and returns the first `maxBytes`. */
function collect(maxBytes: number, onExcess: () => void) {
  const kept: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer) {
      if (bytes < maxBytes) kept.push(chunk.subarray(0, maxBytes - bytes));
      bytes += chunk.length;
      if (bytes > maxBytes) onExcess();
    },
    all: () => Buffer.concat(kept),
  };
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
  new ToolError("TOO_LARGE", `git output exceeds ${limit} bytes; narrow it with path or ref`, {
    limit,
    what: "bytes of output",
  });

const tooSlow = (after_ms: number) =>
  new ToolError("TIMEOUT", `git was not done after ${after_ms} ms and was ended; narrow it with path`, {
    after_ms,
  });
