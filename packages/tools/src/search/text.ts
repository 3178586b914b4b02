import type { ActionText, Range, Reader } from "@octant/core";
import { spanOf, symbolNote, symbolOf } from "../place-lines.ts";
import { notSearchedNotes } from "../searched.ts";

interface QueryData {
  readonly hits: readonly {
    readonly uri: string;
    readonly range: Range | null;
    readonly snippet: string;
    readonly symbol_id: string | null;
  }[];
  readonly index: string;
  readonly indexed_files: number;
  readonly total_files: number | null;
  readonly unmet?: string | undefined;
  readonly unparsed?: readonly string[] | undefined;
  readonly left_out?: string | undefined;
  readonly missing_roots?: readonly string[] | undefined;
}

/** `src/a.ts:12-20  #symbol`, then the lines of the file. */
export function queryText(data: QueryData, reader: Reader): ActionText {
  const { hits, unmet, unparsed } = data;
  const blocks = hits.map((hit) =>
    `${spanOf(hit, reader)}${symbolOf(hit.symbol_id)}\n${hit.snippet}`.trimEnd(),
  );
  return {
    body: blocks.join("\n\n") || "no hits",
    notes: [
      unmet && `${unmet}: these hits are the closest`,
      progressNote(data),
      unparsed &&
        `not searched by structure, parsing takes too long: ${unparsed.map(reader.path).join(", ")}`,
      symbolNote(hits),
      ...notSearchedNotes(data),
    ],
  };
}

function progressNote({ index, indexed_files, total_files }: QueryData): string | false {
  if (index === "fresh") return false;
  const total = total_files === null ? "" : ` of ${total_files}`;
  return `the index is ${index} (${indexed_files}${total} files): there may be more hits; ask again, or run search.index`;
}
