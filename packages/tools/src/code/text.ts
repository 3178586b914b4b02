import { type ActionText, counted, type Reader } from "@octant/core";
import type { z } from "zod";
import { spotOf, symbolNote, symbolOf } from "../place-lines.ts";
import { type NotSearched, notSearchedNotes } from "../searched.ts";
import type { Location } from "./location.ts";
import { type NotListed, notListedNotes } from "./unsearched.ts";

interface LocationsData<R extends Location> extends NotSearched {
  readonly results: readonly R[];
  readonly total?: number | undefined;
  readonly outside?: number | undefined;
  readonly unparsed?: readonly string[] | undefined;
  readonly words_only?: readonly string[] | undefined;
  readonly by_name?: { readonly total: number; readonly results: readonly R[] } | undefined;
  readonly not_listed?: z.output<typeof NotListed>;
  readonly incomplete?: string | undefined;
  readonly note?: string | undefined;
}

/** One line per location: `src/a.ts:12:5: text  #symbol`. */
export const placesText =
  <R extends Location>(
    one: string,
    many = `${one}s`,
    toLine: (row: R, reader: Reader) => string = locationLine,
  ) =>
  (data: LocationsData<R>, reader: Reader): ActionText => {
    const { results, total = results.length, by_name, outside, unparsed, incomplete, note } = data;
    const found = results.map((row) => toLine(row, reader)).join("\n") || `no ${many}`;
    const unsure = by_name
      ? [`by name only, ${by_name.total} not known to ${reader.backend ?? "the server"}:`]
      : [];
    return {
      body: [found, ...unsure, ...(by_name?.results ?? []).map((row) => toLine(row, reader))].join("\n"),
      notes: [
        total > results.length && `${results.length} of ${counted(total, one, many)}`,
        outside !== undefined && `${outside} more outside the workspace`,
        unparsed && `not parsed, too large or too slow: ${unparsed.map(reader.path).join(", ")}`,
        data.words_only && `its words are also in ${data.words_only.map(reader.path).join(", ")}`,
        incomplete,
        ...notListedNotes(data.not_listed, reader.path),
        ...notSearchedNotes(data),
        note,
        reader.backend && `found by ${reader.backend}`,
        symbolNote(results),
      ],
    };
  };

export const locationLine = (row: Location, reader: Reader): string =>
  `${spotOf(row, reader)}: ${row.snippet}${symbolOf(row.symbol_id)}`;
