import { isFields } from "../fields.ts";
import { Hash, Position, Range, shortHash } from "../ids.ts";
import type { ActionText, Reader } from "./text.ts";

/** The text of data whose action declares none: long strings unchanged, everything else in short lines. */
export function describeData(data: unknown, reader: Reader): ActionText {
  if (!isFields(data)) return { body: linesOf(data, reader).join("\n") };
  const handles: Record<string, string> = {};
  const rest: [string, unknown][] = [];
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === "string" && HANDLE.test(value)) handles[name.replace(/_id$/, "")] = value;
    else rest.push([name, value]);
  }
  const [only, ...others] = rest;
  const body =
    only && others.length === 0 && (typeof only[1] === "string" || !isScalar(only[1]))
      ? only[1]
      : Object.fromEntries(rest);
  return { body: linesOf(body, reader).join("\n"), handles };
}

const HANDLE =
  /^(sha256:[0-9a-f]{64}|blob:sha256:[0-9a-f]{64}|(stdout|stderr):proc_\w+|[a-z]+_[0-9a-z]{36})$/;
const INDENT = "  ";

/** A value as lines of `name: value`; a row of a list is one line where it fits. */
export function linesOf(value: unknown, reader: Reader): string[] {
  if (typeof value === "string")
    return value === "" ? [] : toShown(value, reader).replace(/\n$/, "").split("\n");
  if (Array.isArray(value)) return value.flatMap((item) => rowOf(item, reader));
  if (!isFields(value) || isPlace(value)) return [toShown(value, reader)];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined || inner === null || isEmpty(inner)) return [];
    const inline = toInline(name, inner, reader);
    if (inline !== undefined) return [`${name}: ${inline}`];
    // A patch must be copied unchanged.
    if (typeof inner === "string") return [`${name}:`, ...linesOf(inner, reader)];
    return [`${name}:`, ...linesOf(inner, reader).map((line) => INDENT + line)];
  });
}

const MAX_INLINE_CHARS = 100;

/** The value on one line behind its name, if it fits. */
function toInline(name: string, value: unknown, reader: Reader): string | undefined {
  // A line in our data is counted from 0.
  if (name === "line" && typeof value === "number") return String(value + 1);
  if (isScalar(value) || isPlace(value)) {
    const text = toShown(value, reader);
    return text.includes("\n") ? undefined : text;
  }
  if (!Array.isArray(value) || !value.every(isScalar)) return undefined;
  const joined = value.map((item) => toShown(item, reader)).join(", ");
  return joined.length <= MAX_INLINE_CHARS && !joined.includes("\n") ? joined : undefined;
}

function rowOf(item: unknown, reader: Reader): string[] {
  if (!isFields(item) || isPlace(item)) return linesOf(item, reader);
  const { uri, range, ...rest } = item;
  const place = typeof uri === "string" ? [placeOf(uri, range, reader)] : [];
  const named = Object.entries(typeof uri === "string" ? rest : item).filter(
    ([, value]) => value !== undefined && value !== null && !isEmpty(value),
  );
  const cells = named.map(([name, value]) => [name, toInline(name, value, reader)] as const);
  if (cells.some(([, text]) => text === undefined))
    return ["-", ...linesOf(item, reader).map((line) => INDENT + line)];
  return [[...place, ...cells.map(([name, text]) => `${name}: ${text}`)].join("  ")];
}

const placeOf = (uri: string, range: unknown, reader: Reader): string =>
  isRange(range) ? `${reader.path(uri)}:${range.start.line + 1}:${range.start.col + 1}` : reader.path(uri);

/** A value in one piece, as a model reads it. */
export function toShown(value: unknown, reader: Reader): string {
  if (Hash.safeParse(value).success) return shortHash(String(value));
  if (typeof value === "string") return value.startsWith("file:") ? reader.path(value) : value;
  if (isRange(value)) return `${toShown(value.start, reader)}-${toShown(value.end, reader)}`;
  if (isPosition(value)) return `${value.line + 1}:${value.col + 1}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const isScalar = (value: unknown) => typeof value !== "object" || value === null;
const isEmpty = (value: unknown) =>
  value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
const isRange = (value: unknown): value is Range =>
  isFields(value) && isPosition(value["start"]) && isPosition(value["end"]) && Range.safeParse(value).success;
// The schema has a default for the column: a line alone is not a position.
const isPosition = (value: unknown): value is Position =>
  isFields(value) && value["col"] !== undefined && Position.safeParse(value).success;
const isPlace = (value: unknown) => isRange(value) || isPosition(value);
