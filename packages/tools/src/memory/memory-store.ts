import { ownerOf } from "@octant/core";
import { loadWordTable, type TermCutter, type WordTable } from "@octant/search";
import { z } from "zod";

export const SCOPES = ["session", "project", "global"] as const;
export type Scope = (typeof SCOPES)[number];

export const MemoryId = z.string().regex(/^mem_[0-9a-z]+$/);

/** A file or symbol that a memory is about, with its state when the memory was written. */
const MemoryLink = z.object({ uri: z.string(), hash: z.string().nullable() });
export type MemoryLink = z.output<typeof MemoryLink>;

export const MemoryItem = z.object({
  memory_id: MemoryId,
  scope: z.enum(SCOPES),
  kind: z.enum(["note", "fact"]),
  text: z.string(),
  tags: z.array(z.string()).readonly(),
  terms: z.array(z.string()).readonly().optional().describe("Words that a later question may use"),
  source: z.string(),
  confidence: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  links: z.array(MemoryLink).readonly(),
});
export type MemoryItem = z.output<typeof MemoryItem>;

export interface MemoryFilter {
  readonly scopes: readonly Scope[];
  readonly owner: string;
}

export interface ListFilter extends MemoryFilter {
  readonly kind?: MemoryItem["kind"];
  readonly limit: number;
}

/** A memory as recall compares it; `id` is the store's own number for it. */
export interface PlacedMemory {
  readonly id: number;
  readonly vector: Float32Array;
}

/** Memories with their terms and vectors. A caller sees what `isVisible` allows, and nothing else. */
export interface MemoryStore {
  /** Adds it, or replaces the one with its id. */
  put(item: MemoryItem, owner: string): Promise<void>;
  get(memory_id: string, owner: string): Promise<MemoryItem | undefined>;
  /** False when the caller sees no such memory. */
  remove(memory_id: string, owner: string): Promise<boolean>;
  /** Newest first. */
  list(filter: ListFilter): Promise<readonly MemoryItem[]>;
  /** The memories with any of these terms, the best ones only when there are many. */
  match(terms: readonly string[], filter: MemoryFilter): Promise<MatchedMemories>;
  /** Memories with a vector of this embedding model; without a name, of the word table, which all memories have. */
  placed(filter: MemoryFilter, model?: string): Promise<readonly PlacedMemory[]>;
  /** The texts of memories without a vector of this model. */
  unplaced(model: string, limit: number): Promise<readonly { readonly id: number; readonly text: string }[]>;
  /** Stores vectors of this model; a change of a memory removes its vector. */
  place(model: string, vectors: readonly PlacedMemory[]): Promise<void>;
  read(id: number): Promise<MemoryItem | undefined>;
  close(): void;
}

export interface MatchedMemories {
  /** In the order of the terms: how many memories contain each. */
  readonly holders: readonly number[];
  readonly rows: readonly { readonly id: number; readonly terms: readonly string[] }[];
}

/** Opens the store of a scope, once. */
export type OpenMemories = (scope: Exclude<Scope, "session">, index: MemoryIndex) => Promise<MemoryStore>;

/** The terms and the vector of the word table under which a store finds a text. */
export type MemoryIndex = ReturnType<typeof createMemoryIndex>;

export function createMemoryIndex(cut: TermCutter) {
  let table: WordTable | undefined;
  return (text: string) => {
    table ??= loadWordTable();
    const terms = cut(text);
    return {
      terms,
      vector: table.placeChunk({ name: [], container: [], path: [], signature: [], text: terms }),
    };
  };
}

/** The text of a memory that is indexed. */
export const textOf = ({ text, tags, terms = [] }: MemoryItem): string =>
  [text, ...tags, ...terms].join("\n");

/** The owner of memories that are files of the project. */
export const OF_PROJECT = "project";

/** Session memories belong to their caller; others to all callers of the person, or of one owner of the bridge. */
export const isVisible = (
  { scope, owner: creator }: { scope: string; owner: string },
  caller: string,
): boolean =>
  creator === caller ||
  creator === OF_PROJECT ||
  (scope !== "session" && ownerOf(creator) === ownerOf(caller));
