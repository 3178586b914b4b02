import type { LanguageServers, Workspace } from "@octant/host";
import type { Grammars, StoredSymbol, SymbolOptions } from "@octant/search";

/** What code is told when it is made. */
export interface CodeOptions {
  readonly workspace: Workspace;
  readonly servers: LanguageServers;
  /** Of the whole project; without it the files that hold a name are looked through each time. */
  readonly index?: SymbolIndex;
  /** Shared with others who parse in this thread. */
  readonly grammars?: Grammars;
}

/** The part of the search engine that knows symbols. */
export interface SymbolIndex {
  /** The best first. `file` is relative to the first root, or absolute. */
  symbols(name: string, options: SymbolOptions): Promise<readonly StoredSymbol[]>;
}
