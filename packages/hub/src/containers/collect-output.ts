import { Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { orAborted, ToolError } from "@octant/core";
import type { ExecProcess } from "../engines/engine.ts";

export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface Collected {
  /** null: a signal ended it, or the container is gone. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** One of them was larger; the command was killed. */
  readonly isTooLarge: boolean;
}

/** Runs a command to its end. An abort kills it and rejects with its reason. */
export async function collectOutput(
  start: () => Promise<ExecProcess>,
  maxBytes: number,
  signal?: AbortSignal,
  input?: Readable,
): Promise<Collected> {
  signal?.throwIfAborted();
  const starting = start();
  const process = await orAborted(starting, signal).catch((cause: unknown) => {
    // It may still start.
    void starting.then((late) => late.kill()).catch(() => {});
    throw cause;
  });
  const kill = () => void process.kill().catch(() => {});
  signal?.addEventListener("abort", kill, { once: true });
  let isTooLarge = false;
  const collect = (stream: Readable): (() => Buffer) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      isTooLarge = true;
      kill();
    });
    return () => Buffer.concat(chunks);
  };
  try {
    // A command may end before it has read its input.
    if (input) void pipeline(input, process.stdin).catch(() => {});
    else process.stdin.end();
    const [stdout, stderr] = [collect(process.stdout), collect(process.stderr)];
    const ends = [process.stdout, process.stderr].map((stream) => finished(stream).catch(() => {}));
    const code = await process.exited;
    await Promise.all(ends);
    signal?.throwIfAborted();
    return { code, stdout: stdout(), stderr: stderr(), isTooLarge };
  } finally {
    signal?.removeEventListener("abort", kill);
  }
}

/** The tail of stderr says why a command failed. */
const MAX_STDERR_CHARS = 4_000;

/** Runs a command of the hub itself, with a text as its input; throws when it prints too much. */
export async function runToEnd(
  start: () => Promise<ExecProcess>,
  input: string | Buffer | undefined,
  signal: AbortSignal | undefined,
): Promise<{ readonly code: number | null; readonly stdout: Buffer; readonly stderr: string }> {
  const given = input === undefined ? undefined : Readable.from([input]);
  const { code, stdout, stderr, isTooLarge } = await collectOutput(start, MAX_OUTPUT_BYTES, signal, given);
  if (!isTooLarge) return { code, stdout, stderr: stderr.toString("utf8").slice(-MAX_STDERR_CHARS) };
  const message = `the command in the container printed more than ${MAX_OUTPUT_BYTES} bytes`;
  throw new ToolError("TOO_LARGE", message, { limit: MAX_OUTPUT_BYTES });
}
