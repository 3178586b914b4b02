/** What the script is asked, as JSON behind `octant=`. */
export type PageRequest =
  | { readonly op: "ref"; readonly ref: string }
  | ({ readonly op: "tree" } & TreeRequest)
  | ({ readonly op: "changes" } & TreeRequest & { readonly maxChangeChars: number })
  | { readonly op: "mark" }
  | { readonly op: "unmark" };

export interface TreeRequest {
  /** The first number for elements that have no ref yet. */
  readonly next: number;
  /** Before each ref; names the frame. */
  readonly prefix: string;
  readonly interactive: boolean;
  /** How deep to go; 0 for all. */
  readonly depth: number;
  readonly maxChars: number;
  readonly maxMs: number;
  /** Whether later changes are reported from here on. */
  readonly remember: boolean;
}

export interface TreeAnswer {
  /** One line for each element, indented by two spaces a level. */
  readonly text: string;
  readonly lines: number;
  readonly next: number;
  /** False when time or room ran out. */
  readonly complete: boolean;
}

export interface ChangesAnswer extends TreeAnswer {
  /** Nothing was remembered here: `text` is the beginning of the page, not a change. */
  readonly fresh: boolean;
  /** Changed lines that are not in `text`. */
  readonly more: number;
}
