import type { LanguageServers, Workspace } from "@octant/host";
import type { SearchEngine, SharedParsers, StoredSymbol, SymbolOptions } from "@octant/search";

/** What code is told when it is made. */
export interface CodeOptions {
  readonly workspace: Workspace;
  readonly servers: LanguageServers;
  /** Of the whole project; without it, and until it is complete, the files that hold a name are parsed. */
  readonly index?: SymbolIndex;
  readonly parsers: SharedParsers;
}

/** The part of the search engine that knows symbols. */
export interface SymbolIndex extends Pick<SearchEngine, "index" | "status"> {
  /** The best first. `file` is relative to the first root, or absolute. */
  symbols(name: string, options: SymbolOptions): Promise<readonly StoredSymbol[]>;
}
