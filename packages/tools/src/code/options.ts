import type { LanguageServers, Workspace } from "@octant/host";
import type { ParserPool, SearchEngine, StoredSymbol, SymbolOptions } from "@octant/search";

/** The dependencies of the code tool. */
export interface CodeOptions {
  readonly workspace: Workspace;
  readonly servers: LanguageServers;
  /**
   * The index of the whole project; without it, and until it is complete, the files that contain a name are parsed.
   */
  readonly index?: SymbolIndex;
  readonly parsers: ParserPool;
}

/** The part of the search engine that knows symbols. */
export interface SymbolIndex extends Pick<SearchEngine, "index" | "indexFirst" | "poll" | "status"> {
  /** Best first. `file` is relative to the first root, or absolute. */
  symbols(name: string, options: SymbolOptions): Promise<readonly StoredSymbol[]>;
}
