import { nearestName, toExact } from "@octant/core";
import type { z } from "zod";
import { fieldsOf } from "./dictionary.ts";
import { createLineIndex, type Jsonc, JsoncError, parseJsonc } from "./jsonc.ts";
import { type Settings, settingsSchema } from "./schema.ts";
import { SettingsError, type SettingsFile, type SettingsIssue } from "./settings-error.ts";
import { toSettingsSchema } from "./settings-schema.ts";

export interface ParsedSettings {
  readonly settings: Settings;
  /** The line of a value, or of the nearest thing around it, from 1. */
  lineOf(...path: readonly PropertyKey[]): number;
  /** Keys that a newer version may know; they have no effect here. */
  readonly unknown: readonly { readonly key: string; readonly line: number }[];
}

/** The settings that a text holds; a text that holds anything else is a SettingsError. */
export function parseSettings(
  text: string,
  file: SettingsFile,
  schema: z.ZodType<Settings> = settingsSchema(),
): ParsedSettings {
  const placeAt = createLineIndex(text);
  const tree = parseTree(text, file, placeAt);
  const whole = schema.safeParse(tree.value);
  const unknown = (whole.error?.issues ?? []).flatMap(ignorable);
  const { error, data } =
    unknown.length === 0 ? whole : schema.safeParse(unknown.reduce(without, tree.value));
  const [first, ...others] = (error?.issues ?? [])
    .flatMap((issue) => describe(issue, [], tree))
    .sort((a, b) => a.offset - b.offset)
    .slice(0, MAX_ISSUES)
    .map(
      ({ path, tell, offset }): SettingsIssue => ({
        path: toName(path),
        message: tell(),
        ...placeAt(offset),
      }),
    );
  if (first) throw new SettingsError(file, [first, ...others], { cause: error });
  // Without an error there is data.
  const lineOf = (...path: readonly PropertyKey[]) => placeAt(offsetOf(tree, path, "key")).line;
  return {
    settings: data as Settings,
    lineOf,
    unknown: unknown.map((path) => ({ key: toName(path), line: lineOf(...path) })),
  };
}

/**
 * Objects in which an unknown key cannot loosen a limit. In all others it is an error: a partial limit would not hold.
 */
const HARMLESS: readonly PropertyKey[] = ["audit", "memory", "models", "search", "ui"];

/** A file with more is not one of a newer version. */
const MAX_UNKNOWN = 30;

/** The unknown keys of an issue that are not misspelt known ones. */
function ignorable(issue: z.core.$ZodIssue): (readonly PropertyKey[])[] {
  const [first] = issue.path;
  if (issue.code !== "unrecognized_keys" || (first !== undefined && !HARMLESS.includes(first))) return [];
  if (issue.keys.length > MAX_UNKNOWN) return [];
  const known = knownKeys(issue.path);
  return issue.keys
    .filter((key) => key !== "__proto__" && nearestName(key, known) === undefined)
    .map((key) => [...issue.path, key]);
}

/** A copy without the value at the path. */
function without(value: unknown, [step, ...rest]: readonly PropertyKey[]): unknown {
  const entries = Object.entries(fieldsOf(value));
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== step));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, key === step ? without(inner, rest) : inner]),
  );
}

const MAX_ISSUES = 10;

function parseTree(text: string, file: SettingsFile, placeAt: ReturnType<typeof createLineIndex>): Jsonc {
  try {
    return parseJsonc(text);
  } catch (cause) {
    if (!(cause instanceof JsoncError)) throw cause;
    throw new SettingsError(file, [{ path: "", message: toExact(cause.message), ...placeAt(cause.offset) }], {
      cause,
    });
  }
}

/** `sandbox.mode`, `hooks.0.command`. */
const toName = (path: readonly PropertyKey[]): string => toExact(path.map(String).join("."));

interface Found {
  readonly path: readonly PropertyKey[];
  readonly offset: number;
  /** Only for those that are shown: finding the name that was meant takes time. */
  tell(): string;
}

function describe(issue: z.core.$ZodIssue, above: readonly PropertyKey[], tree: Jsonc): Found[] {
  const path = [...above, ...issue.path];
  const offset = offsetOf(tree, path);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      offset: offsetOf(tree, [...path, key], "key"),
      tell: () => unknownKey(key, knownKeys(path)),
    }));
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The alternative that went deepest is the one that was meant.
    const [nearest = []] = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length);
    if (depthOf(nearest) > 0) return nearest.flatMap((one) => describe(one, path, tree));
    const wanted = new Set(issue.errors.flat().map(expectedBy));
    return [{ path, offset, tell: () => `expected ${[...wanted].join(" or ")}` }];
  }
  if (tree.placeOf(path) === undefined) return [{ path, offset, tell: () => "is missing" }];
  return [{ path, offset, tell: () => (issue.code === "custom" ? issue.message : toExpectation(issue)) }];
}

const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.reduce(
    (depth, { path, code }) => Math.max(depth, path.length + (code === "unrecognized_keys" ? 1 : 0)),
    -1,
  );

/** The value itself is never part of it: it may be a secret. */
const toExpectation = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_format" && !issue.message.startsWith("Invalid")
    ? issue.message
    : `expected ${expectedBy(issue)}`;

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "int") return "a whole number";
      return /^[aeiou]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case "invalid_value":
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum} ${unitOf(issue.origin)}`.trim();
    case "too_big":
      return `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum} ${unitOf(issue.origin)}`.trim();
    default:
      return issue.message;
  }
}

const unitOf = (origin: string): string =>
  origin === "string" ? "characters" : origin === "array" ? "items" : "";

function unknownKey(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  if (nearest !== undefined) return `unknown key; did you mean ${nearest}?`;
  return known.length > 0 ? `unknown key; valid keys: ${known.join(", ")}` : "unknown key";
}

/** The keys that the object at a path can have, or none when any can be. */
function knownKeys(path: readonly PropertyKey[]): string[] {
  const inner = path.reduce<unknown>((schema, step) => stepInto(schema, String(step)), toSettingsSchema());
  return Object.keys(fieldsOf(fieldsOf(inner)["properties"]));
}

/** The JSON Schema below a name or index. */
function stepInto(schema: unknown, step: string): unknown {
  const { properties, additionalProperties, items, anyOf } = fieldsOf(schema);
  if (Array.isArray(anyOf)) return anyOf.map((one) => stepInto(one, step)).find(Boolean);
  return (/^\d+$/.test(step) ? items : undefined) ?? fieldsOf(properties)[step] ?? additionalProperties;
}

/** The offset of the value at a path or of its key; for a missing one, of its parent. */
function offsetOf(tree: Jsonc, path: readonly PropertyKey[], of: "key" | "value" = "value"): number {
  const found = tree.placeOf(path)?.[of];
  if (found !== undefined || path.length === 0) return found ?? tree.root.offset;
  return offsetOf(tree, path.slice(0, -1));
}
