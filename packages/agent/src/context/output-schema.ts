import { z } from "zod";

/** A JSON Schema that the last answer has to fit. */
export interface OutputSchema {
  /** Tells the model what is wanted; stands behind the prompt. */
  readonly instruction: string;
  /** What is wrong with an answer; undefined when it fits. */
  check(text: string): string | undefined;
  parse(text: string): unknown;
}

/** Throws when it is not a JSON Schema that can be checked. */
export function createOutputSchema(json: Readonly<Record<string, unknown>>): OutputSchema {
  const schema = z.fromJSONSchema(json);
  const parse = (text: string) => schema.parse(JSON.parse(withoutFence(text)));
  return {
    instruction: `\n\nYour last message must be one JSON value, without any other text, that fits this JSON Schema:\n${JSON.stringify(json)}`,
    parse,
    check(text) {
      try {
        parse(text);
        return undefined;
      } catch (cause) {
        if (cause instanceof z.ZodError) return z.prettifyError(cause);
        return cause instanceof Error ? cause.message : String(cause);
      }
    },
  };
}

/** Models like to put JSON into a code block. */
const withoutFence = (text: string): string =>
  /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
