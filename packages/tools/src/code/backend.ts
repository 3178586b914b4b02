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

/** Who can answer questions about code, each as far as it can. */
export type CodeBackend = Pick<LanguageClient, "name"> &
  Partial<Omit<LanguageClient, "name" | "rename" | "format">> & {
    outline?(path: Path, signal: AbortSignal): Promise<readonly OutlineEntry[] | undefined>;
  };
