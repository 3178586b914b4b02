import type { Range } from "@octant/core";
import type { SymbolKind } from "../syntax/language.ts";

export const MODALITIES = ["auto", "text", "ast", "symbol", "vector", "memory", "file"] as const;
export type Modality = (typeof MODALITIES)[number];

/** What can vouch for a hit. literal: the very words. text: words, weighed. */
export type Strategy = "literal" | "text" | "vector" | "symbol" | "ast" | "callers" | "file";

/** Something that was found. */
export interface Hit {
  readonly path: string;
  /** null for a file as a whole. */
  readonly range: Range | null;
  /** Of the file, as it was when this was found; null when nobody looked. */
  readonly hash: string | null;
  /** The smallest symbol around it: `Outer.inner`. */
  readonly symbol: string | null;
  readonly kind: SymbolKind | "file" | "lines";
  readonly score: number;
  /** Its place in each list that has it, from 1. */
  readonly why: readonly { readonly strategy: Strategy; readonly rank: number }[];
}

/** A hit before it is known how good it is. */
export type Found = Omit<Hit, "score" | "why">;

export interface RankedList {
  readonly strategy: Strategy;
  /** Best first. */
  readonly found: readonly Found[];
}
