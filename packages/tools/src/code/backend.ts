import type { Range } from "@octant/core";
import type { LanguageClient, Path } from "@octant/host";
import type { SymbolKind } from "@octant/search";

/** An entry of a file's outline. */
export interface OutlineEntry {
  readonly name: string;
  /** `Outer.inner` */
  readonly path: string;
  readonly kind: SymbolKind;
  readonly range: Range;
  readonly signature: string;
}

/** A source of answers about code, as far as it can provide them. */
export type CodeBackend = Pick<LanguageClient, "name"> &
  Partial<Omit<LanguageClient, "name" | "rename" | "format">> & {
    /** It knows no types: equal names are taken for the same symbol. */
    readonly matchesNames?: true;
    outline?(path: Path, signal: AbortSignal): Promise<readonly OutlineEntry[] | undefined>;
  };
