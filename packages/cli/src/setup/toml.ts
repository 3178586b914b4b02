import { isDeepStrictEqual } from "node:util";
import type { ConfigFormat, Entry } from "./config-format.ts";
import { ConfigProblem } from "./config-problem.ts";
import { parseToml, type TomlStatement, toTable } from "./toml-statements.ts";

/** TOML, for entries that are tables of their own: `[a.b]` and everything below. */
export const toml: ConfigFormat = {
  read(text, path) {
    const entry = path.reduce<unknown>((value, name) => fieldOf(value, name), toTable(parse(text)));
    return typeof entry === "object" && entry !== null ? (entry as Entry) : undefined; // A table.
  },

  set(text, path, fields) {
    const statements = parse(text);
    refuseOtherForms(text, statements, path);
    const header = statements.find(({ kind, keys }) => kind === "table" && isDeepStrictEqual(keys, path));
    return header ? setFields(text, sectionOf(statements, header), fields) : append(text, path, fields);
  },

  remove(text, path) {
    const statements = parse(text);
    refuseOtherForms(text, statements, path);
    return statements
      .filter(({ kind, keys }) => kind !== "pair" && isBelow(keys, path))
      .reverse()
      .reduce((changed, header) => removeSection(changed, sectionOf(statements, header)), text);
  },
};

/** A duplicate table shows only when the statements are combined. */
function parse(text: string): TomlStatement[] {
  const statements = parseToml(text);
  const seen = new Set<string>();
  let table = "";
  for (const { kind, keys, start } of statements) {
    const name = kind === "pair" ? `${table} ${JSON.stringify(keys)}` : JSON.stringify(keys);
    if (kind === "list") table = `${name} ${start}`;
    if (kind === "table") table = name;
    if (kind !== "list" && seen.has(name))
      throw new ConfigProblem(text, start, `${keys.join(".")} is here twice`);
    seen.add(name);
  }
  return statements;
}

/** An inline table or an entry within another table could be changed only by guessing its layout. */
function refuseOtherForms(text: string, statements: readonly TomlStatement[], path: readonly string[]): void {
  let table: readonly string[] = [];
  for (const { kind, keys, start } of statements) {
    if (kind !== "pair") table = keys;
    const whole = kind === "pair" ? [...table, ...keys] : keys;
    const isOwn = kind === "pair" ? isBelow(table, path) : kind === "table";
    if (isOwn || !(isBelow(whole, path) || isBelow(path, whole))) continue;
    throw new ConfigProblem(
      text,
      start,
      `write this as a table, [${path.map(toKey).join(".")}], to have it changed`,
    );
  }
}

const isBelow = (keys: readonly string[], path: readonly string[]): boolean =>
  path.every((name, at) => keys[at] === name);

/** A header and its pairs. */
function sectionOf(statements: readonly TomlStatement[], header: TomlStatement): TomlStatement[] {
  const rest = statements.slice(statements.indexOf(header) + 1);
  const next = rest.findIndex(({ kind }) => kind !== "pair");
  return [header, ...(next < 0 ? rest : rest.slice(0, next))];
}

function setFields(text: string, section: readonly TomlStatement[], fields: Entry): string {
  const pairOf = (name: string) =>
    section.find(({ keys, value }) => value && keys.length === 1 && keys[0] === name);
  const missing = Object.entries(fields).filter(([name]) => !pairOf(name));
  const lines = missing.map(([name, value]) => newLineOf(text) + toPair(name, value)).join("");
  const end = endOfLine(text, section.at(-1)?.end ?? 0);
  const inserted = text.slice(0, end) + lines + text.slice(end);
  return Object.entries(fields)
    .flatMap(([name, wanted]) => {
      const { value, end } = pairOf(name) ?? {};
      return value && end && !isDeepStrictEqual(value.data, wanted)
        ? [{ start: value.start, end, wanted }]
        : [];
    })
    .sort((a, b) => b.start - a.start)
    .reduce(
      (changed, { start, end, wanted }) => changed.slice(0, start) + toValue(wanted) + changed.slice(end),
      inserted,
    );
}

function append(text: string, path: readonly string[], fields: Entry): string {
  const newLine = newLineOf(text);
  const pairs = Object.entries(fields).map(([name, value]) => toPair(name, value));
  const gap = text.trim() === "" ? "" : /\n$/.test(text) ? newLine : newLine + newLine;
  return `${text}${gap}${[`[${path.map(toKey).join(".")}]`, ...pairs].join(newLine)}${newLine}`;
}

/** Includes the preceding blank line, unless it still separates others. Comments after the last pair stay. */
function removeSection(text: string, section: readonly TomlStatement[]): string {
  const start = text.lastIndexOf("\n", section[0]?.start) + 1;
  const rest = text.slice(endOfLine(text, section.at(-1)?.end ?? 0)).replace(/^\r?\n/, "");
  const head = text.slice(0, start);
  return (/^(?:\s*\n|$)/.test(rest) ? head.replace(/(^|\n)[ \t]*\r?\n$/, "$1") : head) + rest;
}

const fieldOf = (value: unknown, name: string): unknown =>
  // Tables from toTable have no prototype, so every field is an own field.
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const endOfLine = (text: string, from: number): number =>
  from + (/^[^\r\n]*/.exec(text.slice(from))?.[0].length ?? 0);

const newLineOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

const toPair = (name: string, value: unknown): string => `${toKey(name)} = ${toValue(value)}`;

const toKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : toValue(name));

/**
 * Strings and lists of strings are all that an entry has. JSON escapes are valid in TOML, except for one
 * character.
 */
const toValue = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(toValue).join(", ")}]`
    : JSON.stringify(value).replaceAll("\x7f", "\\u007f");
