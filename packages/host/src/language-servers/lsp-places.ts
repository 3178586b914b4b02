import type { Position, Range } from "@octant/core";
import { type Path, uriToPath } from "../path.ts";
import type { LspLocationLink, LspLocations, LspPosition, LspRange } from "./protocol.ts";

/** A stretch of a file. */
export interface SourcePlace {
  readonly path: Path;
  readonly range: Range;
}

export const toLspPosition = ({ line, col }: Position): LspPosition => ({ line, character: col });
export const toLspRange = ({ start, end }: Range): LspRange => ({
  start: toLspPosition(start),
  end: toLspPosition(end),
});

const fromLspPosition = ({ line, character }: LspPosition): Position => ({ line, col: character });
export const fromLspRange = ({ start, end }: LspRange): Range => ({
  start: fromLspPosition(start),
  end: fromLspPosition(end),
});

/** The path of a server's uri; undefined if it is not a file, such as a built-in library. */
export function pathOf(uri: string): Path | undefined {
  return /^file:\/\/\//i.test(uri) ? uriToPath(uri, "/") : undefined;
}

/** Normalises the location formats of servers. */
export function toPlaces(answer: LspLocations): SourcePlace[] {
  const locations = answer === null ? [] : Array.isArray(answer) ? answer : [answer];
  return locations.flatMap((location) => {
    const link = "targetUri" in location ? (location as LspLocationLink) : undefined;
    const path = pathOf(link ? link.targetUri : location.uri);
    const range = link ? link.targetSelectionRange : location.range;
    return path === undefined ? [] : [{ path, range: fromLspRange(range) }];
  });
}
