import type { Envelope } from "../envelope.ts";
import { shortHash } from "../ids.ts";

/** How an answer reads for a model. Lines and columns are counted from 1, as in grep, compilers and editors. */
export interface ActionText {
  /** The content itself: file text, hits, output. */
  readonly body: string;
  /** Facts for the last line, such as `exit 0`. */
  readonly notes?: readonly (string | false | null | undefined)[];
  /** Handles that a follow-up call needs, by name: hash, ref, proc. */
  readonly handles?: Readonly<Record<string, string | number | null | undefined>>;
}

/** Helps an action to write its text. */
export interface Reader {
  /** The path relative to the first workspace root, where that is short and accepted as input; otherwise the URI. */
  path(uri: string): string;
  /** The backend, as in `meta.backend`. */
  readonly backend: string | undefined;
  /** The text of another answer inside this one, such as the result of a job. */
  envelope(envelope: Envelope): string;
}

/** The body unchanged, then one line in brackets with everything else. */
export function joinText({ body, ...about }: ActionText): string {
  const facts = factsOf(about);
  if (facts.length === 0) return body;
  return `${body}${body === "" || body.endsWith("\n") ? "" : "\n"}[${facts.join("; ")}]`;
}

/** The items of the last line. */
export const factsOf = ({ notes = [], handles = {} }: Omit<ActionText, "body">): string[] => [
  ...notes.filter((note): note is string => typeof note === "string" && note !== ""),
  ...Object.entries(handles).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [`${name} ${name === "hash" ? shortHash(String(value)) : value}`],
  ),
];

/** `1 file`, `2 files`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const CHARS_PER_TOKEN = 4;

/** The usual estimate of the tokens in a text. */
export const toTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);
