/** An embedding model: texts with similar meaning get vectors that are close together. */
export interface Embedder {
  /** Identifies the model; vectors of different models cannot be compared. */
  readonly id: string;
  /** One vector of length one per text. */
  embed(texts: readonly string[], role: EmbedRole, signal: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Some models embed questions and passages differently. */
export type EmbedRole = "question" | "passage";

/** The prefixes that some models expect: `search_query: `, `search_document: `. */
export type Prefixes = Readonly<Record<EmbedRole, string>>;
export const NO_PREFIXES: Prefixes = { question: "", passage: "" };

/** Models truncate longer texts, so sending more is pointless. */
const MAX_TEXT_CHARS = 8_000;
export const cutText = (text: string): string => text.slice(0, MAX_TEXT_CHARS);
