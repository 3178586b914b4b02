import type { ActionText, Range, Reader } from "@octant/core";
import { spanOf, symbolNote, symbolOf } from "../place-lines.ts";

interface QueryData {
  readonly hits: readonly {
    readonly uri: string;
    readonly range: Range | null;
    readonly snippet: string;
    readonly symbol_id: string | null;
  }[];
  readonly index: string;
  readonly unparsed?: readonly string[] | undefined;
}

/** `src/a.ts:12-20  #symbol`, then the lines as they stand in the file. */
export function queryText({ hits, index, unparsed }: QueryData, reader: Reader): ActionText {
  const blocks = hits.map((hit) =>
    `${spanOf(hit, reader)}${symbolOf(hit.symbol_id)}\n${hit.snippet}`.trimEnd(),
  );
  return {
    body: blocks.join("\n\n") || "no hits",
    notes: [
      index !== "fresh" && `the index is ${index}: there may be more`,
      unparsed &&
        `not searched by structure, parsing takes too long: ${unparsed.map(reader.path).join(", ")}`,
      symbolNote(hits),
    ],
  };
}
