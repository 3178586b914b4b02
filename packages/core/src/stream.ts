/** Part of the output of a call while it runs. */
export type StreamChunk =
  | {
      readonly kind: "progress";
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

const CHUNK_OVERHEAD_BYTES = 64;

/** The memory that a chunk takes, roughly. */
export function chunkBytes(chunk: StreamChunk): number {
  if (chunk.kind === "binary") return CHUNK_OVERHEAD_BYTES + chunk.bytes.byteLength;
  const text = chunk.kind === "log" ? chunk.line : chunk.kind === "text" ? chunk.text : (chunk.message ?? "");
  return CHUNK_OVERHEAD_BYTES + text.length * 2;
}
