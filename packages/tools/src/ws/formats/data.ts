import { isFields } from "@octant/core";
import { parse, TomlError } from "smol-toml";

/**
 * Untrusted data of any shape: access never throws, and missing values are empty. Only own properties count, so that
 * `__proto__` and `constructor` are ordinary names.
 */
export interface Data {
  /** Follows the keys; empty when the path ends early. */
  get(...keys: readonly string[]): Data;
  /** The trimmed value when it is a text of reasonable length. */
  readonly text: string | undefined;
  /** The texts of a list; a single text counts as a list of one. */
  readonly texts: readonly string[];
  readonly items: readonly Data[];
  readonly keys: readonly string[];
  readonly isPresent: boolean;
}

const MAX_TEXT_CHARS = 1_000;
const MAX_ITEMS = 2_000;

export const toData = (value: unknown): Data => ({
  get: (...keys) => toData(keys.reduce(ownValue, value)),
  get text() {
    return toText(value);
  },
  get texts() {
    const list = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [value];
    return list.map(toText).filter((text) => text !== undefined);
  },
  get items() {
    return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(toData) : [];
  },
  get keys() {
    return isFields(value) ? Object.keys(value).slice(0, MAX_ITEMS).filter(isSensible) : [];
  },
  isPresent: value !== undefined && value !== null,
});

const ownValue = (value: unknown, key: string): unknown =>
  isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const toText = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return isSensible(text) ? text : undefined;
};

const isSensible = (text: string): boolean => text.length > 0 && text.length <= MAX_TEXT_CHARS;

/** Parses a JSON manifest; comments and trailing commas are allowed, as in deno.jsonc. */
export function readJson(text: string): { value: unknown; problem?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (strict) {
    try {
      return { value: JSON.parse(withoutComments(text)) };
    } catch {
      return {
        value: undefined,
        problem: `not valid JSON: ${strict instanceof Error ? strict.message : ""}`,
      };
    }
  }
}

/**
 * Each match is a string, a comment, or a trailing comma; strings are kept. Unclosed ones match too: a pattern that
 * failed there would restart at every quote, and take minutes over a hostile file.
 */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g;

function withoutComments(text: string): string {
  const bare = text.replace(TOKEN, (token) => (token.startsWith("/") ? " " : token));
  return bare.replace(TOKEN, (token) => (token === "," ? "" : token));
}

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
