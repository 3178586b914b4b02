import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Fields, ToolError } from "@octant/core";

/** In the order of HIP-0301 section 18. */
export const DOMAINS = [
  "sse-frames",
  "mcp-normalization",
  "permission-policy",
  "session-compaction",
  "oauth-pkce",
  "config-merge",
  "backoff-timing",
] as const;

export type Domain = (typeof DOMAINS)[number];

/** One case of a file, as sent to an implementation. */
export interface VectorCase {
  readonly id: string;
  readonly domain: Domain;
  readonly sentence: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Readonly<Record<string, unknown>>;
}

interface VectorFile {
  readonly vectors: readonly Readonly<Record<string, unknown>>[];
  readonly [shared: string]: unknown;
}

/** The folder of the vectors: next to the built code, or in the repository. */
export function findVectors(given?: string): string {
  const places =
    given === undefined
      ? [join(import.meta.dirname, "vectors"), join(import.meta.dirname, "../../../vectors")]
      : [given];
  const found = places.find((place) => existsSync(join(place, `${DOMAINS[0]}.json`)));
  if (found === undefined)
    throw new ToolError(
      "NOT_FOUND",
      `${given ?? "this install"} has no vectors; give a folder that has them`,
      {},
    );
  return found;
}

export function loadVectors(folder: string, domain: Domain): readonly VectorCase[] {
  // The runner's own tests check the form of the files.
  const { vectors, ...shared } = JSON.parse(
    readFileSync(join(folder, `${domain}.json`), "utf8"),
  ) as VectorFile;
  return vectors.flatMap((vector) => toCases(domain, vector, shared));
}

function toCases(
  domain: Domain,
  vector: VectorFile["vectors"][number],
  shared: Readonly<Record<string, unknown>>,
): VectorCase[] {
  const base = {
    id: String(vector["id"]),
    domain,
    sentence: String(vector["sentence"] ?? vector["name"]),
  };
  if (domain === "permission-policy") {
    const { tiers, call, decision } = vector;
    const { files, links, actions } = shared;
    return [{ ...base, input: { files, links, actions, tiers, call }, expect: Object(decision) }];
  }
  if (domain === "config-merge") {
    const { id, name, expect, ...input } = vector;
    return [{ ...base, input, expect: Object(expect) }];
  }
  const plain = { ...base, input: Object(vector["input"]), expect: Object(vector["expect"]) };
  return domain === "sse-frames" ? withCuts(plain) : [plain];
}

/** The same text must produce the same frames however it is split. */
function withCuts(one: VectorCase): VectorCase[] {
  const text = (one.input["chunks"] as readonly string[]).join(""); // The form of the file guarantees it.
  return [
    one,
    { ...one, id: `${one.id}/whole`, input: { chunks: [text] } },
    { ...one, id: `${one.id}/characters`, input: { chunks: [...text] } },
  ];
}

/** Describes the difference between an output and the expectation; undefined when they match. */
export function checkOutput({ domain, expect }: VectorCase, output: unknown): string | undefined {
  if (domain === "config-merge") return checkConfig(expect, Object(output));
  return isDeepStrictEqual(output, expect) ? undefined : difference("output", expect, output);
}

const difference = (what: string, expected: unknown, actual: unknown): string =>
  `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;

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
