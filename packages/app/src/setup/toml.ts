import { isDeepStrictEqual } from "node:util";
import { attempt } from "@octant/core";
import { parse, TomlError, type TomlTable } from "smol-toml";
import { type ConfigFormat, ConfigProblem, type Entry, newLineOf } from "./config-format.ts";

/** TOML, for entries that are tables of their own: `[a.b]` and everything below. */
export const toml: ConfigFormat = {
  read(text, path) {
    const entry = valueAt(parseText(text), path);
    return typeof entry === "object" && entry !== null ? (entry as Entry) : undefined; // A table.
  },

  set(text, path, fields) {
    const statements = toStatements(text, path);
    const header = statements.findIndex((one) => one.kind === "table" && isDeepStrictEqual(one.keys, path));
    if (header < 0) return append(text, path, fields);
    return setFields(text, sectionAt(statements, header), fields);
  },

  remove(text, path) {
    const statements = toStatements(text, path);
    return statements
      .flatMap(({ kind, keys }, at) => (kind !== "pair" && isBelow(keys, path) ? [at] : []))
      .reverse()
      .reduce((changed, at) => removeSection(changed, sectionAt(statements, at)), text);
  },
};

function parseText(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [, reason = "it cannot be read"] = /: (.*)/.exec(cause.message) ?? [];
    const lines = text.split("\n").slice(0, cause.line - 1);
    const offset = lines.reduce((sum, line) => sum + line.length + 1, cause.column - 1);
    throw new ConfigProblem(text, offset, `this is not valid TOML: ${reason}`);
  }
}

const valueAt = (table: TomlTable, path: readonly string[]): unknown =>
  // Tables have no prototype, so every field is an own field.
  path.reduce<unknown>((value, name) => Object(value)[name], table);

/** `[a.b]`, `[[a.b]]` or `a.b = value`, with its lines; the end is exclusive and before the line end. */
interface Statement {
  readonly kind: "table" | "list" | "pair";
  /** The names down to the first value that is not a table with one field. */
  readonly keys: readonly string[];
  readonly table: TomlTable;
  readonly start: number;
  readonly end: number;
}

/**
 * Lines that can be parsed on their own are a statement. Throws for an entry in another form: an inline table, or
 * pairs within another table, could be changed only by guessing their layout.
 */
function toStatements(text: string, path: readonly string[]): Statement[] {
  parseText(text);
  const statements: Statement[] = [];
  let start = 0;
  let section: readonly string[] = [];
  for (const { index: end, 0: newLine } of text.matchAll(/\r?\n|$/g)) {
    const table = tryParse(text.slice(start, end));
    if (!table) continue;
    const first = /^\s*(\[\[|\[|[^\s#])/.exec(text.slice(start, end))?.[1];
    if (first !== undefined) {
      const kind = first === "[[" ? "list" : first === "[" ? "table" : "pair";
      const keys = keysOf(table);
      const whole = kind === "pair" ? [...section, ...keys] : keys;
      const isOwn = kind === "pair" ? isBelow(section, path) : kind === "table";
      if (!isOwn && (isBelow(whole, path) || isBelow(path, whole)))
        throw new ConfigProblem(text, start, `write this as a table, ${toHeader(path)}, to have it changed`);
      if (kind !== "pair") section = keys;
      statements.push({ kind, keys, table, start, end });
    }
    start = end + newLine.length;
  }
  return statements;
}

const tryParse = (text: string): TomlTable | undefined => attempt(() => parseText(text));

function keysOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const [field, second] = Object.entries(value);
  return field && !second ? [field[0], ...keysOf(field[1])] : [];
}

const isBelow = (keys: readonly string[], path: readonly string[]): boolean =>
  path.every((name, at) => keys[at] === name);

/** A header and its pairs. */
function sectionAt(statements: readonly Statement[], header: number): readonly Statement[] {
  const next = statements.findIndex(({ kind }, at) => at > header && kind !== "pair");
  return statements.slice(header, next < 0 ? undefined : next);
}

/** From the last statement to the first, so that the offsets before a change stay right. */
function setFields(text: string, section: readonly Statement[], fields: Entry): string {
  const missing = Object.entries(fields).filter(([name]) => !section.some(({ table }) => name in table));
  const lines = missing.map((field) => newLineOf(text) + toPair(field));
  const end = section.at(-1)?.end ?? 0;
  const inserted = text.slice(0, end) + lines.join("") + text.slice(end);
  return section.toReversed().reduce((changed, { table, start, end }) => {
    const field = Object.entries(fields).find(([name]) => name in table);
    if (!field || isDeepStrictEqual(table[field[0]], field[1])) return changed;
    const pair = text.slice(start, end);
    const [head = ""] = /^[^=]*=[ \t]*/.exec(pair) ?? [];
    return changed.slice(0, start) + head + toValue(field[1]) + commentOf(pair, table) + changed.slice(end);
  }, inserted);
}

/** The comment behind a pair: without it, the value is the same. */
function commentOf(pair: string, table: TomlTable): string {
  const at = [...pair.matchAll(/[ \t]*#/g)].find(({ index }) =>
    isDeepStrictEqual(tryParse(pair.slice(0, index)), table),
  )?.index;
  return at === undefined ? "" : pair.slice(at);
}

function append(text: string, path: readonly string[], fields: Entry): string {
  const newLine = newLineOf(text);
  const gap = text.trim() === "" ? "" : /\n$/.test(text) ? newLine : newLine + newLine;
  return `${text}${gap}${[toHeader(path), ...Object.entries(fields).map(toPair)].join(newLine)}${newLine}`;
}

/** Includes the preceding blank line, unless it still separates others. Comments after the last pair stay. */
function removeSection(text: string, section: readonly Statement[]): string {
  const rest = text.slice(section.at(-1)?.end).replace(/^\r?\n/, "");
  const head = text.slice(0, section[0]?.start);
  return (/^(?:\s*\n|$)/.test(rest) ? head.replace(/(^|\n)[ \t]*\r?\n$/, "$1") : head) + rest;
}

const toHeader = (path: readonly string[]): string => `[${path.map(toKey).join(".")}]`;

const toPair = ([name, value]: readonly [string, unknown]): string => `${toKey(name)} = ${toValue(value)}`;

const toKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : toValue(name));

/** An entry has strings, and lists and tables of them. JSON escapes are valid in TOML, except for one character. */
function toValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toValue).join(", ")}]`;
  if (typeof value !== "string") return `{ ${Object.entries(Object(value)).map(toPair).join(", ")} }`;
  return JSON.stringify(value).replaceAll("\x7f", "\\u007f");
}
