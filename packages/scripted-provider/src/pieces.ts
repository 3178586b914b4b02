const PIECE_CHARS = 7;

/** Splits a text like a model's stream. */
export const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,7}/g) ?? [];

/** Splits bytes at positions that depend only on the seed. */
export function* cutBytes(bytes: Uint8Array, seed: number): Generator<Uint8Array> {
  let state = seed >>> 0 || 1;
  for (let at = 0; at < bytes.length; ) {
    // xorshift32: short, and the same everywhere.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const length = 1 + ((state >>> 0) % (PIECE_CHARS * 5));
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
