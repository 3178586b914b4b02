import { ToolError } from "@octant/core";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";

/** More than any message has, and fewer than the first byte of text that a program prints by mistake. */
const MAX_FRAMES = 16;
const LENGTH_BYTES = 4;
const EMPTY = Buffer.alloc(0);
/** The frames beside the body are small. */
const MAX_MESSAGE_BYTES = MAX_BODY_BYTES + 4_096;

/** A message on a byte stream: the number of its frames (u8), then each with its length (u32 big-endian). */
export function encodeMessage(frames: readonly Uint8Array[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from([frames.length])];
  for (const frame of frames) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(frame.length);
    parts.push(length, frame);
  }
  return Buffer.concat(parts);
}

/** Throws INVALID_ARGUMENT for bytes that are not messages; an incomplete last one is ignored. */
export async function* readMessages(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[]> {
  const source = input[Symbol.asyncIterator]();
  let waiting: Uint8Array[] = [];
  let size = 0;
  const take = async (bytes: number): Promise<Buffer | undefined> => {
    while (size < bytes) {
      const { value, done } = await source.next();
      if (done) return undefined;
      waiting.push(value);
      size += value.length;
    }
    const [only = EMPTY] = waiting;
    const all =
      waiting.length > 1 ? Buffer.concat(waiting) : Buffer.from(only.buffer, only.byteOffset, only.length);
    size -= bytes;
    waiting = size > 0 ? [all.subarray(bytes)] : [];
    return all.subarray(0, bytes);
  };
  try {
    for (let count = await take(1); count; count = await take(1)) {
      const frames: Buffer[] = [];
      let room = MAX_MESSAGE_BYTES;
      const expected = count.readUInt8();
      if (expected > MAX_FRAMES) throw malformed(`a message has ${expected} frames`);
      while (frames.length < expected) {
        const length = (await take(LENGTH_BYTES))?.readUInt32BE();
        if (length === undefined) return;
        room -= length;
        if (room < 0) throw malformed(`a message has more than ${MAX_MESSAGE_BYTES} bytes`);
        const frame = await take(length);
        if (!frame) return;
        frames.push(frame);
      }
      yield frames;
    }
  } finally {
    await source.return?.();
  }
}

const malformed = (message: string) =>
  new ToolError("INVALID_ARGUMENT", `not a stream of HOOT01 messages: ${message}; docs/wire.md`, {
    issues: [{ path: "stream", message }],
  });
