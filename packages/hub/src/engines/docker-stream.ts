import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Separates the two outputs of a command: each part has a header of its kind, three zeros and its length. A reader that
 * does not keep up slows the command.
 */
export function demultiplex(source: Readable): { readonly stdout: Readable; readonly stderr: Readable } {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const forward = async () => {
    let rest: Buffer = Buffer.alloc(0);
    let left = 0;
    let target = stdout;
    for await (const chunk of source) {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length > 0 && (left > 0 || rest.length >= HEADER_BYTES)) {
        if (left === 0) {
          target = rest[0] === STDERR ? stderr : stdout;
          left = rest.readUInt32BE(HEADER_BYTES / 2);
          rest = rest.subarray(HEADER_BYTES);
          continue;
        }
        const part = rest.subarray(0, left);
        left -= part.length;
        rest = rest.subarray(part.length);
        if (!target.destroyed && !target.write(part)) await drained(target);
      }
    }
  };
  // A connection that breaks ends both; the exit code says more.
  void forward()
    .catch(() => {})
    .finally(() => {
      stdout.end();
      stderr.end();
    });
  return { stdout, stderr };
}

async function drained(stream: PassThrough): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]);
  } finally {
    stop.abort();
  }
}
