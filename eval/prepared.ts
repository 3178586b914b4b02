// A project parsed once, so that many weights can be tried on it.
import { createTermCutter, cutChunks, FIELDS, loadWordTable } from "@octant/search";
import type { Corpus, Question } from "./corpus.ts";

export interface PreparedChunk {
  readonly path: string;
  readonly firstLine: number;
  readonly endLine: number;
  readonly kind: string;
  readonly name: string;
  /** The number of terms in each field. */
  readonly lengths: readonly number[];
  readonly traits: number;
}

export interface Prepared {
  readonly language: string;
  readonly name: string;
  readonly chunks: readonly PreparedChunk[];
  /** Chunk and counts by field, one after the other. */
  readonly postings: ReadonlyMap<string, { readonly chunks: number[]; readonly counts: number[][] }>;
  readonly questions: readonly { readonly question: Question; readonly cosines: Float32Array }[];
}

export async function prepare({ repository, sources, questions }: Corpus): Promise<Prepared> {
  const cutTerms = createTermCutter();
  const table = loadWordTable();
  const chunks: PreparedChunk[] = [];
  const vectors: Float32Array[] = [];
  const postings = new Map<string, { chunks: number[]; counts: number[][] }>();
  for (const { path, text, symbols } of sources) {
    for (const chunk of cutChunks(path, text, symbols, cutTerms)) {
      const symbol = chunk.symbol === null ? undefined : symbols[chunk.symbol];
      const terms = chunk.fields;
      const at = chunks.length;
      const counts = new Map<string, number[]>();
      for (const [field, name] of FIELDS.entries())
        for (const term of terms[name]) {
          const own = counts.get(term) ?? FIELDS.map(() => 0);
          own[field] = (own[field] ?? 0) + 1;
          counts.set(term, own);
        }
      for (const [term, own] of counts) {
        const list = postings.get(term) ?? { chunks: [], counts: [] };
        list.chunks.push(at);
        list.counts.push(own);
        postings.set(term, list);
      }
      chunks.push({
        path,
        firstLine: chunk.firstLine,
        endLine: chunk.endLine,
        kind: symbol?.kind ?? "lines",
        name: symbol?.name ?? "",
        lengths: FIELDS.map((field) => terms[field].length),
        traits: chunk.traits,
      });
      vectors.push(table.placeChunk(chunk.table));
    }
  }
  return {
    language: repository.language,
    name: repository.name,
    chunks,
    postings,
    questions: questions.map((question) => {
      const asked = table.placeQuestion(cutTerms(question.text));
      return { question, cosines: Float32Array.from(vectors, (vector) => dot(vector, asked)) };
    }),
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
