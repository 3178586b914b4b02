import type { Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
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
  const process = await start();
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
