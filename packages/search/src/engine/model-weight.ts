import type { PackedVector } from "../vector/vector-store.ts";

/** A question whose answer is known: the doc comment of a symbol, or its name, asks for the symbol's chunk. */
export interface Probe {
  readonly id: number;
  readonly question: string;
}

/** A chunk, or the question that asks for it, as the model and the word table embed it. */
export interface Embedded {
  readonly id: number;
  readonly byModel: PackedVector;
  readonly byTable: PackedVector;
}

/** The share of the full vector weight that a model deserves, and the number of its vectors when it was measured. */
export interface ModelShare {
  readonly share: number;
  readonly vectors: number;
}

/** Questions to measure a model with, among so many chunks; more would not change the weight much. */
export const MAX_PROBES = 200;
export const MAX_PROBED_CHUNKS = 2_000;
/** Fewer say nothing about a model, and in so small a project its mistakes cost little. */
const MIN_PROBES = 20;
const MIN_SENTENCE_WORDS = 4;
/** Below this part of the word table's success, a model says more that is wrong than right. */
const MIN_SUCCESS = 0.3;
/** A model half as good deserves far less than half the weight: see docs/search.md. */
const STEEPNESS = 4;

/** The first sentence of the doc comment without the symbol's name; the words of the name when there is none. */
export function questionOf(name: string, doc: string | null): string {
  const [sentence = ""] = (doc ?? "").split(/\n\s*\n|(?<=[.!?])\s/);
  const words = sentence.split(/\s+/).filter((word) => word !== "" && !word.includes(name));
  if (words.length >= MIN_SENTENCE_WORDS) return words.join(" ");
  return name.replace(/_+|(?<=\p{Ll})(?=\p{Lu})/gu, " ").trim();
}

/**
 * How much of its full weight a model deserves, from 0 to 1: how well it finds the chunks of known questions, compared
 * with the word table, for which that weight was tuned. Finding no more than by chance is worth nothing.
 */
export function shareOf(probes: readonly Embedded[], chunks: readonly Embedded[]): number {
  if (probes.length < MIN_PROBES) return 1;
  const chance = meanOf(chunks.map((_, at) => 1 / (at + 1)));
  const success = (by: "byModel" | "byTable") =>
    meanOf(probes.map((probe) => 1 / rankOf(probe, chunks, by))) - chance;
  const [model, table] = [success("byModel"), success("byTable")];
  const part = table > 0 ? Math.min(1, model / table) : 0;
  return part < MIN_SUCCESS ? 0 : part ** STEEPNESS;
}

/** The rank of the probe's own chunk, from 1; ties share the middle of their ranks. */
function rankOf(probe: Embedded, chunks: readonly Embedded[], by: "byModel" | "byTable"): number {
  const own = chunks.find(({ id }) => id === probe.id);
  const wanted = own ? similarity(probe[by], own[by]) : 0;
  let rank = 1;
  for (const chunk of chunks) {
    if (chunk === own) continue;
    const score = similarity(probe[by], chunk[by]);
    if (score > wanted) rank += 1;
    else if (score === wanted) rank += 0.5;
  }
  return rank;
}

function similarity(a: PackedVector, b: PackedVector): number {
  let sum = 0;
  for (let at = 0; at < a.values.length; at++) sum += (a.values[at] ?? 0) * (b.values[at] ?? 0);
  return sum * a.scale * b.scale;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
