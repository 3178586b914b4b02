import { type BinaryPart, ToolError } from "@octant/core";

/**
 * The number of chunks that a client may be ahead; more is LIMIT_EXCEEDED, because it ignores the acknowledgements.
 */
export const UPLOAD_WINDOW = 64;

/** The bytes of one upload, read at the tool's pace. */
export type Upload = ReturnType<typeof createUpload>;

/**
 * Ends after `size` bytes. `onTaken` receives the number of chunks that the tool has taken, for the client's window.
 */
export function createUpload(size: number, onTaken: (chunks: number) => void) {
  const queue: Uint8Array[] = [];
  let received = 0;
  let taken = 0;
  let wake = () => {};
  return {
    push(bytes: Uint8Array): void {
      received += bytes.length;
      if (received > size) throw tooMuch(`more than the ${size} bytes that upload_bytes announced`, size);
      if (queue.length >= UPLOAD_WINDOW * 2)
        throw tooMuch(
          `wait for acknowledgements: at most ${UPLOAD_WINDOW} chunks may be in flight`,
          UPLOAD_WINDOW,
        );
      queue.push(bytes);
      wake();
    },
    /** The bytes as the tool sees them. */
    toPart: (signal: AbortSignal): BinaryPart => ({
      mime: "application/octet-stream",
      size,
      read: () => read(signal),
    }),
  };

  async function* read(signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.addEventListener("abort", () => wake(), { once: true });
    for (let left = size; left > 0; ) {
      signal.throwIfAborted();
      const bytes = queue.shift();
      if (!bytes) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      left -= bytes.length;
      yield bytes;
      onTaken(++taken);
    }
  }
}

const tooMuch = (message: string, limit: number) =>
  new ToolError("LIMIT_EXCEEDED", `upload: ${message}`, { limit });
