import { createInterface } from "node:readline";
import { startTrusted } from "./start-program.ts";
import type { TrustedProgram } from "./trusted-program.ts";

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly input?: string;
  /** Each line of stderr as it comes; the result has only the last ones. */
  readonly onStderrLine?: (line: string) => void;
}

export interface Ran {
  /** Null when a signal ended it: the time was up, or it printed too much. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_CHARS = 4_000;

/** Runs a program of the system to its end, outside the sandbox. Rejects with the reason when it is aborted. */
export function runTrusted(
  program: TrustedProgram,
  args: readonly string[],
  options: RunOptions,
): Promise<Ran> {
  const { env, timeoutMs, signal, input } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = startTrusted(program, args, { env, timeout: timeoutMs, killSignal: "SIGKILL" });
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = "";
    const kill = () => child.kill("SIGKILL");
    signal?.addEventListener("abort", kill, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) kill();
      else chunks.push(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
    });
    if (options.onStderrLine) createInterface({ input: child.stderr }).on("line", options.onStderrLine);
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (code) => {
      signal?.removeEventListener("abort", kill);
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code, stdout: Buffer.concat(chunks), stderr });
    });
  });
}
