import { Range, SymbolId, Uri } from "@octant/core";
import { comparePaths, isWithin, type Path, pathToUri, type SourcePlace } from "@octant/host";
import { z } from "zod";
import type { Code } from "./code.ts";
import { compare, isUnparsable } from "./sources.ts";
import { lineAt } from "./words.ts";

const MAX_SNIPPET_CHARS = 200;

/** A place in the code, as the caller sees it. */
export const Place = z.object({
  uri: Uri,
  range: Range,
  snippet: z.string().describe("The line where it starts"),
  symbol_id: SymbolId.nullable().describe("The symbol at this place, or the one around it"),
});
export type Place = z.output<typeof Place>;

/** Undefined when the file is gone meanwhile. */
export async function toPlace({ sources }: Code, { path, range }: SourcePlace): Promise<Place | undefined> {
  const source = sources.readIfThere(path);
  if (!source) return undefined;
  const symbol = await sources.enclosing(path, range.start, source).catch((cause: unknown) => {
    if (isUnparsable(cause)) return undefined;
    throw cause;
  });
  return {
    uri: pathToUri(path),
    range,
    snippet: lineAt(source.text, range.start.line).trim().slice(0, MAX_SNIPPET_CHARS).toWellFormed(),
    symbol_id: symbol ? sources.symbolId(path, symbol) : null,
  };
}

/** Those in the workspace, each once, in the order of paths and lines; and how many lie elsewhere, such as in libraries. */
export function sortPlaces<P extends SourcePlace>(
  { workspace }: Code,
  places: readonly P[],
): { readonly inside: readonly P[]; readonly outside: number } {
  const isInside = (path: Path) => workspace.confinement.roots.some((root) => isWithin(root, path));
  const inside = places.filter(({ path }) => isInside(path)).toSorted(comparePlaces);
  return {
    inside: inside.filter((place, n) => n === 0 || comparePlaces(inside[n - 1]!, place) !== 0),
    outside: places.length - places.filter(({ path }) => isInside(path)).length,
  };
}

export const comparePlaces = (a: SourcePlace, b: SourcePlace): number =>
  comparePaths(a.path, b.path) || compare(a.range.start, b.range.start) || compare(a.range.end, b.range.end);

/** Said where it is not nothing. */
export const Outside = z.int().optional().describe("Results outside the workspace, omitted");
export const noteOutside = (outside: number) => (outside > 0 ? { outside } : {});
