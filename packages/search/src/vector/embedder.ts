/** A model that says where texts lie: texts with the same meaning lie near each other. */
export interface Embedder {
  /** Names the model; vectors of another one are worth nothing. */
  readonly id: string;
  /** One vector of length one for each text. */
  embed(texts: readonly string[], role: EmbedRole, signal: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Some models place questions and what answers them by different rules. */
export type EmbedRole = "question" | "passage";

/** What some models want before a text: `search_query: `, `search_document: `. */
export type Prefixes = Readonly<Record<EmbedRole, string>>;
export const NO_PREFIXES: Prefixes = { question: "", passage: "" };

/** Models cut off what they cannot read; there is no use in sending it. */
const MAX_TEXT_CHARS = 8_000;
export const cutText = (text: string): string => text.slice(0, MAX_TEXT_CHARS);
