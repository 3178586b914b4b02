import { readFileSync } from "node:fs";
import { z } from "zod";
import { UsageError } from "../command.ts";

/** The schema that `--output-schema` names. */
export interface OutputSchema {
  readonly instruction: string;
  /** What is wrong with an answer; undefined when it fits. */
  check(text: string): string | undefined;
  parse(text: string): unknown;
}

export function loadOutputSchema(file: string): OutputSchema {
  const hint = "it has to be a file with a JSON Schema";
  try {
    const json = JSON.parse(readFileSync(file, "utf8"));
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
  } catch (cause) {
    throw new UsageError(`--output-schema ${file}: ${cause instanceof Error ? cause.message : cause}`, hint);
  }
}

/** Models like to put JSON into a code block. */
const withoutFence = (text: string): string =>
  /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
