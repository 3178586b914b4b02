import type { Range } from "@octant/core";
import type { SearchEngine } from "../engine/search-engine.ts";
import type { Modality } from "./hit.ts";

export interface SearchRequest {
  readonly query: string;
  readonly modality: Modality;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called for a file that may contain a match but could not be parsed. */
  onUnparsed?(path: string): void;
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
