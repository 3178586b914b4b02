import { isDeepStrictEqual } from "node:util";
import type { VectorCase } from "./load-vectors.ts";

/** Describes the difference between an output and the expectation; undefined when they match. */
export function checkOutput({ domain, expect }: VectorCase, output: unknown): string | undefined {
  if (domain === "config-merge") return checkConfig(expect, Object(output));
  return isDeepStrictEqual(output, expect) ? undefined : difference("output", expect, output);
}

const difference = (what: string, expected: unknown, actual: unknown): string =>
  `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;

type Fields = Readonly<Record<string, unknown>>;

/** Compares only the fields that a case names; a part of each warning suffices, but no others may appear. */
function checkConfig(expect: Fields, output: Fields): string | undefined {
  if (expect["error"]) return checkError(Object(expect["error"]), Object(output["error"]));
  if (output["error"]) return `unexpected error: ${JSON.stringify(output["error"])}`;
  for (const [name, value] of Object.entries(Object(expect["settings"] ?? {}))) {
    const actual = name.split(".").reduce((inner, key) => Object(inner)[key], output["settings"]) ?? null;
    if (!isDeepStrictEqual(actual, value)) return difference(`settings.${name}`, value, actual);
  }
  for (const [key, value] of Object.entries(Object(expect["origins"] ?? {}))) {
    const actual = Object(output["origins"])[key];
    if (!isDeepStrictEqual(actual, value)) return difference(`origins.${key}`, value, actual);
  }
  for (const name of ["permissions", "waiting"])
    if (expect[name] && !isDeepStrictEqual(output[name], expect[name]))
      return difference(name, expect[name], output[name]);
  return checkWarnings(toTexts(expect["warnings"]), toTexts(output["warnings"]));
}

function checkError(expected: Fields, actual: Fields): string | undefined {
  const isSame = ["tier", "line", "column"].every((name) => expected[name] === actual[name]);
  return isSame && String(actual["message"]).includes(String(expected["message"]))
    ? undefined
    : difference("error", expected, actual);
}

/** Each implementation words its trust notices as it likes. */
const isAboutTrust = (warning: string) => /\btrust\b/.test(warning);

function checkWarnings(expected: readonly string[], actual: readonly string[]): string | undefined {
  const wanted = expected.filter((one) => !isAboutTrust(one));
  const given = actual.filter((one) => !isAboutTrust(one));
  const missing = wanted.find((part) => !given.some((one) => one.includes(part)));
  if (missing !== undefined) return `no warning says "${missing}"`;
  return given.length === wanted.length ? undefined : difference("warnings", wanted, given);
}

const toTexts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
