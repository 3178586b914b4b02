import type { LanguageClient, Path } from "@octant/host";
import type { SourceSymbol } from "@octant/search";

/** An entry of a file's outline. */
export type OutlineEntry = Pick<SourceSymbol, "name" | "path" | "kind" | "range" | "signature">;

/** A source of answers about code, as far as it can provide them. */
export type CodeBackend = Pick<LanguageClient, "name"> &
  Partial<Omit<LanguageClient, "name" | "rename" | "format">> & {
    /** It knows no types: equal names are taken for the same symbol. */
    readonly matchesNames?: true;
    outline?(path: Path, signal: AbortSignal): Promise<readonly OutlineEntry[] | undefined>;
  };
