import { type ActionText, counted, type Range, type Reader } from "@octant/core";
import type { z } from "zod";
import { spotOf, symbolNote, symbolOf } from "../place-lines.ts";
import { type NotSearched, notSearchedNotes } from "../searched.ts";
import type { ChangedFiles } from "./changed-files.ts";

interface Row {
  readonly uri: string;
  readonly range: Range;
  readonly snippet?: string;
  readonly symbol_id?: string | null;
}

interface PlacesData<R extends Row> extends NotSearched {
  readonly results: readonly R[];
  readonly total?: number | undefined;
  readonly outside?: number | undefined;
  readonly unparsed?: readonly string[] | undefined;
  readonly incomplete?: string | undefined;
  readonly note?: string | undefined;
}

/** One line per location: `src/a.ts:12:5: text  #symbol`. */
export const placesText =
  <R extends Row>(one: string, many = `${one}s`, toLine: (row: R, reader: Reader) => string = placeLine) =>
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

const placeLine = (row: Row, reader: Reader): string =>
  `${spotOf(row, reader)}: ${row.snippet ?? ""}${symbolOf(row.symbol_id)}`;

interface CallRow extends Row {
  readonly calls: readonly { readonly uri: string; readonly range: Range }[];
}

export const callsText = placesText<CallRow>("call", "calls", (row, reader) => {
  const at = row.calls.map(({ range }) => range.start.line + 1);
  return `${placeLine(row, reader)}${at.length > 0 ? `  (calls on line ${[...new Set(at)].join(", ")})` : ""}`;
});

interface DiagnosticRow extends Row {
  readonly severity: string;
  readonly message: string;
  readonly source?: string | undefined;
  readonly code?: string | undefined;
}

export const diagnosticsText = placesText<DiagnosticRow>("problem", "problems", (row, reader) => {
  const from = [row.source, row.code].filter(Boolean).join(" ");
  return `${spotOf(row, reader)}: ${row.severity}: ${row.message}${from && ` [${from}]`}`;
});

interface MatchRow extends Row {
  readonly captures: Readonly<Record<string, string>>;
}

export const matchesText = placesText<MatchRow>("match", "matches", (row, reader) => {
  const captures = Object.entries(row.captures).map(([name, text]) => `${name}=${JSON.stringify(text)}`);
  return `${placeLine(row, reader)}${captures.length > 0 ? `  ${captures.join(" ")}` : ""}`;
});

interface HoverData {
  readonly text: string | null;
}

export const hoverText = ({ text }: HoverData, { backend }: Reader): ActionText => ({
  body: text ?? "no information about this position",
  notes: [backend && `by ${backend}`],
});

interface CompletionData {
  readonly results: readonly {
    readonly label: string;
    readonly kind?: string | undefined;
    readonly detail?: string | undefined;
    readonly insert?: string | undefined;
  }[];
  readonly total: number;
}

export const completionText = ({ results, total }: CompletionData, { backend }: Reader): ActionText => ({
  body:
    results
      .map(({ label, kind, detail, insert }) => {
        const about = [kind, detail, insert !== undefined && `inserts ${JSON.stringify(insert)}`].filter(
          Boolean,
        );
        return about.length > 0 ? `${label}  (${about.join("; ")})` : label;
      })
      .join("\n") || "no completions",
  notes: [total > results.length && `${results.length} of ${total}`, backend && `by ${backend}`],
});

/** The patch, then the hash of each changed file. */
export function changesText(
  { files, undo, patch, patch_truncated, patch_id }: z.output<typeof ChangedFiles>,
  { path, backend }: Reader,
): ActionText {
  if (patch_id === null) return { body: "nothing to change" };
  const lines = files.map(({ uri, hash }) =>
    `${path(uri)}  ${undo === null || hash === null ? "" : hash}`.trimEnd(),
  );
  const [title, note] =
    undo === null ? ["Would change:", "dry run, nothing changed"] : ["Changed:", undefined];
  return {
    body: [title, ...lines, patch].join("\n"),
    notes: [note, patch_truncated && "the patch is cut", backend && `by ${backend}`],
    handles: { undo },
  };
}
