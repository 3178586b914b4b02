import type { PackedVector } from "../vector/vector-store.ts";

/** The ranking data of a chunk, in bytes. */
export interface PackedChunk {
  readonly vector: PackedVector;
  /** The weight of each term, in the order of the terms. */
  readonly weights: Uint16Array;
}

const SCALE_BYTES = 4;
const LENGTH_BYTES = 4;

/** Layout: scale, vector length, vector, weights. */
export function encodeChunk({ vector: { values, scale }, weights }: PackedChunk): Uint8Array<ArrayBuffer> {
  const start = SCALE_BYTES + LENGTH_BYTES;
  const bytes = new Uint8Array(start + values.length + weights.byteLength);
  const view = new DataView(bytes.buffer);
  view.setFloat32(0, scale, true);
  view.setUint32(SCALE_BYTES, values.length, true);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.length), start);
  bytes.set(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength), start + values.length);
  return bytes;
}

export function decodeChunk(bytes: Uint8Array): PackedChunk {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = SCALE_BYTES + LENGTH_BYTES;
  const length = view.getUint32(SCALE_BYTES, true);
  // Copied, because the weights may start at an odd offset. The slice of a Buffer would share its memory instead.
  const own = new Uint8Array(bytes.subarray(start));
  return {
    vector: { values: new Int8Array(own.buffer, 0, length), scale: view.getFloat32(0, true) },
    weights: new Uint16Array(own.slice(length).buffer),
  };
}
