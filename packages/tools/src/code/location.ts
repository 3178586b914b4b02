import { dirname } from "node:path/posix";
import { Range, SymbolId, Uri } from "@octant/core";
import { comparePaths, isWithin, type Path, pathToUri, type SourcePlace, type Spot } from "@octant/host";
import { z } from "zod";
import type { Code } from "./code.ts";
import { compare, holds, isUnparsable, type Sources } from "./sources.ts";
import { lineAt } from "./words.ts";

const MAX_SNIPPET_CHARS = 200;

/** A location in the code, as shown to the caller. */
export const Location = z.object({
  uri: Uri,
  range: Range,
  snippet: z.string().describe("The line where it starts"),
  symbol_id: SymbolId.nullable().describe("The symbol at this place, or the one around it"),
});
export type Location = z.output<typeof Location>;

/** undefined when the file is gone meanwhile. */
export async function toLocation(
  { sources }: Code,
  { path, range }: SourcePlace,
): Promise<Location | undefined> {
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

export type CompareLocations = (a: SourcePlace, b: SourcePlace) => number;

/** The locations inside the workspace, unique and sorted, and the number of those outside, such as in libraries. */
export function sortLocations<P extends SourcePlace>(
  { workspace }: Code,
  places: readonly P[],
  order: CompareLocations = compareLocations,
): { readonly inside: readonly P[]; readonly outside: number } {
  const isInside = (path: Path) => workspace.confinement.roots.some((root) => isWithin(root, path));
  const inside = places.filter(({ path }) => isInside(path)).toSorted(order);
  return {
    inside: inside.filter((place, n) => n === 0 || compareLocations(inside[n - 1]!, place) !== 0),
    outside: places.length - places.filter(({ path }) => isInside(path)).length,
  };
}

/** By path and line. */
export const compareLocations: CompareLocations = (a, b) =>
  comparePaths(a.path, b.path) || compare(a.range.start, b.range.start) || compare(a.range.end, b.range.end);

/** Orders the same class first, then the same file and folder: of two things with one name, the nearest is meant. */
export async function orderFrom(
  { sources }: { readonly sources: Pick<Sources, "symbols"> },
  { path, position }: Pick<Spot, "path" | "position">,
): Promise<CompareLocations> {
  const symbols = await sources.symbols(path).catch((cause: unknown) => {
    if (isUnparsable(cause)) return [];
    throw cause;
  });
  // They are sorted by their start, so the last one is the innermost.
  const around = symbols.findLast(({ kind, range }) => CLASSES.has(kind) && holds(range, position));
  const distanceOf = (place: SourcePlace): number => {
    if (place.path !== path) return dirname(place.path) === dirname(path) ? 2 : 3;
    return around && holds(around.range, place.range.start) ? 0 : 1;
  };
  return (a, b) => distanceOf(a) - distanceOf(b) || compareLocations(a, b);
}

const CLASSES: ReadonlySet<string> = new Set(["class", "struct", "interface", "trait", "enum"]);

/** Present only when not zero. */
export const Outside = z.int().optional().describe("Results outside the workspace, omitted");
export const noteOutside = (outside: number) => (outside > 0 ? { outside } : {});
