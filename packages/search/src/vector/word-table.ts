import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { normalise } from "./vector-store.ts";

/** The parts of a chunk that the table weights separately, in its order. */
const TABLE_FIELDS = ["name", "container", "path", "signature", "text"] as const;
export type TableFields = Readonly<Record<(typeof TABLE_FIELDS)[number], readonly string[]>>;

export type WordTable = ReturnType<typeof loadWordTable>;

/** Identifies the table in the index; vectors of different tables cannot be compared. */
export const WORD_TABLE_ID = "code-words:1";
/** The table was trained on signatures and texts of at most this length. */
export const MAX_TABLE_SIGNATURE_CHARS = 600;
export const MAX_TABLE_TEXT_CHARS = 3_000;

const Vocabulary = z.object({
  format: z.literal("CWV1"),
  version: z.literal(1),
  alpha: z.number(),
  tokens: z.array(z.string()),
});
const MAGIC = "CWV1";
const HEADER_BYTES = 32;
const MAX_COUNT = 255;

/** Word vectors learned from doc comments and the functions below them in many projects; see data/README.md. */
export function loadWordTable() {
  const folder = dataFolder();
  const { alpha, tokens } = Vocabulary.parse(
    JSON.parse(readFileSync(join(folder, "code-words.json"), "utf8")),
  );
  const layout = parseTable(readFileSync(join(folder, "code-words.bin")));
  const { dimensions, words, asked, fieldWeights, questionScales, codeVectors, questionVectors } = layout;
  if (tokens.length !== words) throw new Error("code-words.json and code-words.bin do not belong together");
  const numbers = new Map(tokens.map((token, number) => [token, number]));

  const addTo = (sum: Float32Array, vectors: Int8Array, word: number, weight: number) => {
    const start = word * dimensions;
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + weight * (vectors[start + i] ?? 0);
  };

  return {
    dimensions,
    /** Of length one; zeros when none of the terms is known. */
    placeQuestion(terms: readonly string[]): Float32Array {
      const sum = new Float32Array(dimensions);
      for (const term of new Set(terms)) {
        const word = numbers.get(term);
        // Words that never occurred in a training question are embedded as code.
        if (word !== undefined)
          addTo(sum, word < asked ? questionVectors : codeVectors, word, questionScales[word] ?? 0);
      }
      return normalise(sum);
    },
    placeChunk(fields: TableFields): Float32Array {
      const weights = new Map<number, number>();
      for (const [at, field] of TABLE_FIELDS.entries()) {
        const terms = fields[field];
        const share = Math.max(1, terms.length) ** -alpha;
        const counts = new Map<number, number>();
        for (const term of terms) {
          const word = numbers.get(term);
          if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
        }
        for (const [word, count] of counts) {
          const weight =
            Math.log1p(Math.min(MAX_COUNT, count)) * share * (fieldWeights[at * words + word] ?? 0);
          weights.set(word, (weights.get(word) ?? 0) + weight);
        }
      }
      const sum = new Float32Array(dimensions);
      for (const [word, weight] of weights) addTo(sum, codeVectors, word, weight);
      return normalise(sum);
    },
  };
}

/** Views into the file's buffer; the numbers are little-endian, as on every platform that Node supports. */
function parseTable(file: Buffer) {
  if (file.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new Error("code-words.bin is not a word table");
  const [version, dimensions = 0, words = 0, asked = 0, fields = 0] = new Uint32Array(
    file.buffer.slice(file.byteOffset + MAGIC.length, file.byteOffset + MAGIC.length + 20),
  );
  const floats = (fields + 1) * words;
  const size = HEADER_BYTES + 4 * floats + (words + asked) * dimensions;
  if (version !== 1 || fields !== TABLE_FIELDS.length || file.length !== size)
    throw new Error("code-words.bin has another layout");
  const bytes = file.buffer.slice(file.byteOffset + HEADER_BYTES, file.byteOffset + size);
  return {
    dimensions,
    words,
    asked,
    fieldWeights: new Float32Array(bytes, 0, fields * words),
    questionScales: new Float32Array(bytes, 4 * fields * words, words),
    codeVectors: new Int8Array(bytes, 4 * floats, words * dimensions),
    questionVectors: new Int8Array(bytes, 4 * floats + words * dimensions),
  };
}

/** Next to the built code, or in the source tree. */
function dataFolder(): string {
  const beside = import.meta.dirname;
  return existsSync(join(beside, "code-words.bin")) ? beside : join(beside, "../../data");
}
