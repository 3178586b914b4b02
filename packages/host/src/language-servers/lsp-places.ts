import type { Position, Range } from "@octant/core";
import type * as lsp from "vscode-languageserver-types";
import { type Path, uriToPath } from "../path.ts";
import type { LspLocations } from "./protocol.ts";

/** A stretch of a file. */
export interface SourcePlace {
  readonly path: Path;
  readonly range: Range;
}

export const toLspPosition = ({ line, col }: Position): lsp.Position => ({ line, character: col });
export const toLspRange = ({ start, end }: Range): lsp.Range => ({
  start: toLspPosition(start),
  end: toLspPosition(end),
});

const fromLspPosition = ({ line, character }: lsp.Position): Position => ({ line, col: character });
export const fromLspRange = ({ start, end }: lsp.Range): Range => ({
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
    const link = "targetUri" in location ? (location as lsp.LocationLink) : undefined;
    const path = pathOf(link ? link.targetUri : location.uri);
    const range = link ? link.targetSelectionRange : location.range;
    return path === undefined ? [] : [{ path, range: fromLspRange(range) }];
  });
}
