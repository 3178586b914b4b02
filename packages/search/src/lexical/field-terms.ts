import { FIELDS, type FieldTerms } from "./bm25f.ts";

/** A line for each field: terms hold neither spaces nor line ends. */
export const encodeTerms = (terms: FieldTerms): string =>
  FIELDS.map((field) => terms[field].join(" ")).join("\n");

export function parseTerms(text: string): FieldTerms {
  const lines = text.split("\n");
  const field = (at: number) => (lines[at] ? lines[at].split(" ") : []);
  return {
    name: field(0),
    container: field(1),
    path: field(2),
    signature: field(3),
    doc: field(4),
    body: field(5),
  };
}
