import { type ActionText, counted, type Reader } from "@octant/core";
import { spotOf, symbolNote, symbolOf } from "../place-lines.ts";
import { type NotSearched, notSearchedNotes } from "../searched.ts";
import type { Place } from "./place.ts";

interface PlacesData<R extends Place> extends NotSearched {
  readonly results: readonly R[];
  readonly total?: number | undefined;
  readonly outside?: number | undefined;
  readonly unparsed?: readonly string[] | undefined;
  readonly incomplete?: string | undefined;
  readonly note?: string | undefined;
}

/** One line per location: `src/a.ts:12:5: text  #symbol`. */
export const placesText =
  <R extends Place>(one: string, many = `${one}s`, toLine: (row: R, reader: Reader) => string = placeLine) =>
  (data: PlacesData<R>, reader: Reader): ActionText => {
    const { results, total = results.length, outside, unparsed, incomplete, note } = data;
    return {
      body: results.map((row) => toLine(row, reader)).join("\n") || `no ${many}`,
      notes: [
        total > results.length && `${results.length} of ${counted(total, one, many)}`,
        outside !== undefined && `${outside} more outside the workspace`,
        unparsed && `not parsed, too slow: ${unparsed.map(reader.path).join(", ")}`,
        incomplete,
        ...notSearchedNotes(data),
        note,
        reader.backend && `found by ${reader.backend}`,
        symbolNote(results),
      ],
    };
  };

export const placeLine = (row: Place, reader: Reader): string =>
  `${spotOf(row, reader)}: ${row.snippet}${symbolOf(row.symbol_id)}`;
