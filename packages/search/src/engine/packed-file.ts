import type { IndexedFile } from "./code-index.ts";

// Parsed files travel between threads as bytes: these transfer without a copy and take no heap memory.

export const encodeFile = (file: IndexedFile): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(file));

export const decodeFile = (bytes: Uint8Array): IndexedFile =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
