/** A request to the script, as JSON after `octant=`. */
export type PageRequest =
  | { readonly op: "ref"; readonly ref: string }
  | { readonly op: "role"; readonly role: string; readonly name: string; readonly anyCase: boolean }
  | ({ readonly op: "tree" } & TreeRequest)
  | ({ readonly op: "changes" } & TreeRequest & { readonly maxChangeChars: number })
  | { readonly op: "mark" }
  | { readonly op: "unmark" };

export interface TreeRequest {
  /** Time in ms since 1970 after which nobody waits for the answer any more. */
  readonly until: number;
  /** The first number for elements without a ref. */
  readonly next: number;
  /** The prefix of each ref; names the frame. */
  readonly prefix: string;
  readonly interactive: boolean;
  /** The maximum depth; 0 for all. */
  readonly depth: number;
  readonly maxChars: number;
  readonly maxMs: number;
  /** Whether later changes are reported relative to this state. */
  readonly remember: boolean;
}

export interface TreeAnswer {
  /** One line per element, indented by two spaces per level. */
  readonly text: string;
  readonly lines: number;
  readonly next: number;
  /** False when the time or size limit was reached. */
  readonly complete: boolean;
}

export interface ChangesAnswer extends TreeAnswer {
  /** There was no earlier state: `text` is the start of the page, not a change. */
  readonly fresh: boolean;
  /** The number of changed lines omitted from `text`. */
  readonly more: number;
  /** Of the document. */
  readonly title: string;
  /** Links that were used since the last answer and download. No request of the page shows that. */
  readonly downloadLinks: readonly string[];
}
