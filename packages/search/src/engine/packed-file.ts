import type { IndexedFile } from "./code-index.ts";

// A file goes from thread to thread as bytes: they are handed over or copied at once, and take no room on a heap.

export const encodeFile = (file: IndexedFile): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(file));

export const decodeFile = (bytes: Uint8Array): IndexedFile =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
