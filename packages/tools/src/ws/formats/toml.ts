import { parse, TomlError } from "smol-toml";

const MAX_DEPTH = 100;

/** Parses a TOML manifest; `problem` names the line of a syntax error. */
export function readToml(text: string): { value: unknown; problem?: string } {
  try {
    return { value: parse(text, { maxDepth: MAX_DEPTH, integersAsBigInt: "asNeeded" }) };
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    return { value: undefined, problem: `not valid TOML: line ${cause.line}` };
  }
}
