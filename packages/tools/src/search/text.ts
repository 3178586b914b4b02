import type { ActionText, Reader } from "@octant/core";
import { spanOf, symbolNote, symbolOf } from "../place-lines.ts";
import { notSearchedNotes } from "../searched.ts";
import type { QueryOutput } from "./query.ts";

/** `src/a.ts:12-20  #symbol`, then the lines of the file. */
export function queryText(data: QueryOutput, reader: Reader): ActionText {
  const { hits, unmet, without_model, unparsed } = data;
  const blocks = hits.map((hit) =>
    `${spanOf(hit, reader)}${symbolOf(hit.symbol_id)}\n${hit.snippet}`.trimEnd(),
  );
  return {
    body: blocks.join("\n\n") || "no hits",
    notes: [
      unmet && `${unmet}: these hits are the closest`,
      without_model && `by words only: ${without_model}`,
      progressNote(data),
      unparsed && `not searched, too large or too slow to parse: ${unparsed.map(reader.path).join(", ")}`,
      symbolNote(hits),
      ...notSearchedNotes(data),
    ],
  };
}

function progressNote({ index, indexed_files, total_files }: QueryOutput): string | false {
  if (index === "fresh") return false;
  const total = total_files === null ? "" : ` of ${total_files}`;
  const how = index === "indexing" ? "a text scan chose the files to rank" : "there may be more hits";
  const state = index === "indexing" ? "being built" : index;
  return `the index is ${state} (${indexed_files}${total} files): ${how}; ask again later, or run search.index`;
}
