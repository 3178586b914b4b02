/** A model that says where texts lie: texts with the same meaning lie near each other. */
export interface Embedder {
  /** Names the model; vectors of another one are worth nothing. */
  readonly id: string;
  /** One vector of length one for each text. */
  embed(texts: readonly string[], role: EmbedRole, signal: AbortSignal): Promise<Float32Array[]>;
}

/** Some models place questions and what answers them by different rules. */
export type EmbedRole = "question" | "passage";
