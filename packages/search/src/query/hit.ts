import type { Range } from "@octant/core";
import type { SearchEngine } from "../engine/search-engine.ts";
import type { SymbolKind } from "../syntax/language.ts";

export const MODALITIES = ["auto", "text", "ast", "symbol", "vector", "memory", "file"] as const;
export type Modality = (typeof MODALITIES)[number];

/** The searches that can produce a hit. literal: the exact words. text: weighted words. scan: lines with them. */
export type Strategy =
  | "literal"
  | "text"
  | "vector"
  | "symbol"
  | "ast"
  | "callers"
  | "subtypes"
  | "file"
  | "scan";

/** A search result. */
export interface Hit {
  readonly path: string;
  /** null for a whole file. */
  readonly range: Range | null;
  /** The hash of the file when it was searched; null when it was not read. */
  readonly hash: string | null;
  /** The innermost enclosing symbol: `Outer.inner`. */
  readonly symbol: string | null;
  readonly kind: SymbolKind | "file" | "lines";
  readonly score: number;
  /** Its rank in each list that contains it, from 1. */
  readonly why: readonly { readonly strategy: Strategy; readonly rank: number }[];
}

/** A hit before scoring. */
export type Found = Omit<Hit, "score" | "why">;

export interface RankedList {
  readonly strategy: Strategy;
  /** Best first. */
  readonly found: readonly Found[];
}

export interface SearchRequest {
  readonly query: string;
  /** The question in the caller's other words: likely names, synonyms. */
  readonly also?: readonly string[];
  readonly modality: Modality;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called for a file that may contain a match but could not be parsed. */
  onUnparsed?(path: string): void;
  /** Called with the reason when the embedding model fails and the answer is by words alone. */
  onWithoutModel?(reason: string): void;
}

/** The parts of a search: the workspace searches text, the engine does the rest. */
export interface SearchParts {
  readonly engine: Pick<SearchEngine, "rank" | "symbols" | "outline" | "syntax">;
  /** Literal matches, as ripgrep finds them. */
  grep(
    text: string,
    options: { readonly scope?: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly GrepMatch[]>;
  /** All searchable files. */
  paths(signal: AbortSignal): AsyncIterable<string>;
}

export interface GrepMatch {
  readonly path: string;
  readonly range: Range;
  /** The first line of the match. */
  readonly line: string;
}
