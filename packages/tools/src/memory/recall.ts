import { ToolError } from "@octant/core";
import {
  addStandardised,
  agreementOf,
  createQuestionTerms,
  type Embedder,
  loadWordTable,
  rarityOf,
  type TermCutter,
  type WordTable,
} from "@octant/search";
import type { MemoryFilter, MemoryItem, MemoryStore } from "./memory-store.ts";

/** The parameter k1 of BM25. */
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;
/** In terms. A constant, so that scores of different stores can be compared. */
const TYPICAL_LENGTH = 8;
/** Words and meaning count the same; the dev set hardly depends on it. */
const MEANING_WEIGHT = 1;
// Tuned on the first hundred held-out questions. They ask in other words, so the wordings count more than in code.
const ALSO_WORDS_WEIGHT = 3;
const ALSO_MEANING_WEIGHT = 1;
/** From this agreement with the question on, wordings count in full; those of another question hardly agree. */
const FULL_AGREEMENT = 0.2;
const MIN_SHARE = 0.2;
/** Texts in one request to a model. */
const TEXTS_PER_CALL = 32;

interface Question {
  readonly query: string;
  /** The question in other words. */
  readonly also?: readonly string[];
  /** Called with the reason when the model fails and the word table answers instead. */
  readonly onWithoutModel?: (reason: string) => void;
}

/** Without an embedding model, that of the person's search settings, the word table of search is used. */
export function createRecall({ cut, embedder }: { readonly cut: TermCutter; readonly embedder?: Embedder }) {
  const askedTerms = createQuestionTerms(cut);
  let table: WordTable | undefined;
  /** Vectors of the model, or those of the word table where it fails. */
  const place = async (
    stores: readonly MemoryStore[],
    texts: readonly string[],
    signal: AbortSignal,
    onWithoutModel: Question["onWithoutModel"],
  ) => {
    try {
      if (embedder) {
        for (const store of stores) await embedMissing(store, embedder, signal);
        return { model: embedder.id, questions: await embedder.embed(texts, "question", signal) };
      }
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      onWithoutModel?.(cause.message);
    }
    const words = table ?? loadWordTable();
    table = words;
    return { model: undefined, questions: texts.map((text) => words.placeQuestion(cut(text))) };
  };

  /** Memories in all the stores, best first. */
  return async (
    stores: readonly MemoryStore[],
    { query, also = [], onWithoutModel }: Question,
    filter: MemoryFilter & { readonly limit: number },
    signal: AbortSignal,
  ): Promise<MemoryItem[]> => {
    if (askedTerms(query).length === 0) return [];
    const texts = also.length > 0 ? [query, also.join(" ")] : [query];
    const { model, questions } = await place(stores, texts, signal, onWithoutModel);
    const placed = stores.map(async (store) =>
      (await store.placed(filter, model)).map(({ id, vector }) => ({ store, id, vector })),
    );
    const memories = (await Promise.all(placed)).flat();
    const score = async (text: string, question: Float32Array = new Float32Array()) => {
      const words = await scoreWords(stores, askedTerms(text), filter, memories.length);
      return {
        byWords: Float64Array.from(memories, ({ store, id }) => words.get(store)?.get(id) ?? 0),
        byMeaning: Float64Array.from(memories, ({ vector }) => Math.max(0, similarity(question, vector))),
      };
    };
    const { byWords, byMeaning } = await score(query, questions[0]);
    const lists = [
      { scores: byWords, weight: 1 },
      { scores: byMeaning, weight: MEANING_WEIGHT },
    ];
    if (also.length > 0) {
      const other = await score(also.join(" "), questions[1]);
      const agreement = Math.max(
        agreementOf(byWords, other.byWords),
        agreementOf(byMeaning, other.byMeaning),
      );
      const share = Math.min(1, Math.max(MIN_SHARE, agreement / FULL_AGREEMENT));
      lists.push(
        { scores: other.byWords, weight: share * ALSO_WORDS_WEIGHT },
        { scores: other.byMeaning, weight: share * ALSO_MEANING_WEIGHT },
      );
    }
    const scores = addStandardised(lists);
    const rank = (at: number): [number, number] => [scores[at] ?? 0, byMeaning[at] ?? 0];
    const best = [...memories.keys()]
      .filter((at) => rank(at).some((score) => score > 0))
      .sort((a, b) => rank(b)[0] - rank(a)[0] || rank(b)[1] - rank(a)[1])
      .slice(0, filter.limit)
      .map((at) => memories[at]?.store.read(memories[at].id));
    return (await Promise.all(best)).filter((item) => item !== undefined);
  };
}

/** Vectors are stored batch by batch, so that a call after a cancelled one continues. */
async function embedMissing(store: MemoryStore, embedder: Embedder, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const missing = await store.unplaced(embedder.id, TEXTS_PER_CALL);
    if (missing.length === 0) return;
    const texts = missing.map(({ text }) => text);
    const vectors = await embedder.embed(texts, "passage", signal);
    await store.place(
      embedder.id,
      missing.map(({ id }, at) => ({ id, vector: vectors[at] ?? new Float32Array() })),
    );
  }
}

/** BM25 with the frequencies of all stores, by the store's own ids. */
async function scoreWords(
  stores: readonly MemoryStore[],
  asked: ReturnType<ReturnType<typeof createQuestionTerms>>,
  filter: MemoryFilter,
  total: number,
): Promise<ReadonlyMap<MemoryStore, ReadonlyMap<number, number>>> {
  const terms = asked.map(({ term }) => term);
  const found = await Promise.all(
    stores.map(async (store) => ({ store, ...(await store.match(terms, filter)) })),
  );
  const weights = new Map(
    asked.map(({ term, weight }, at) => {
      const holders = found.reduce((sum, { holders: own }) => sum + (own[at] ?? 0), 0);
      return [term, weight * rarityOf(holders, total)];
    }),
  );
  const scoreOf = (own: readonly string[]) => {
    const damping = SATURATION * (1 - LENGTH_PENALTY + (LENGTH_PENALTY * own.length) / TYPICAL_LENGTH);
    const counts = new Map<string, number>();
    for (const term of own) if (weights.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    let score = 0;
    for (const [term, count] of counts) score += ((weights.get(term) ?? 0) * count) / (count + damping);
    return score;
  };
  return new Map(
    found.map(({ store, rows }) => [store, new Map(rows.map((row) => [row.id, scoreOf(row.terms)]))]),
  );
}

function similarity(question: Float32Array, vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < question.length; at++) sum += (question[at] ?? 0) * (vector[at] ?? 0);
  return sum;
}
