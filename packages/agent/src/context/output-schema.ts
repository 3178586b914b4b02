import { z } from "zod";

/** A JSON Schema that the last answer must match. */
export interface OutputSchema {
  /** Describes the schema to the model; follows the prompt. */
  readonly instruction: string;
  /** The problem with an answer; undefined when it is valid. */
  check(text: string): string | undefined;
  parse(text: string): unknown;
}

/** Throws when it is not a usable JSON Schema. */
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

/** Models often put JSON into a code block. */
const withoutFence = (text: string): string =>
  /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
