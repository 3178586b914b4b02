import { isDeepStrictEqual } from "node:util";
import type { ConfigFormat, Entry } from "./config-format.ts";
import { ConfigProblem } from "./config-problem.ts";
import { parseToml, type TomlStatement, toTable } from "./toml-statements.ts";

/** TOML, as far as an entry is a table of its own: `[a.b]` and what is below it. */
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

/** Twice the same table is an error that only shows when the file is seen as a whole. */
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

/** An entry that is written within another table, or as a value, could only be changed by guessing at its layout. */
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

/** With the blank line before it, unless that still parts others. Remarks after the last pair stay. */
function removeSection(text: string, section: readonly TomlStatement[]): string {
  const start = text.lastIndexOf("\n", section[0]?.start) + 1;
  const rest = text.slice(endOfLine(text, section.at(-1)?.end ?? 0)).replace(/^\r?\n/, "");
  const head = text.slice(0, start);
  return (/^(?:\s*\n|$)/.test(rest) ? head.replace(/(^|\n)[ \t]*\r?\n$/, "$1") : head) + rest;
}

const fieldOf = (value: unknown, name: string): unknown =>
  // What toTable makes has no prototype, so every field is its own.
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const endOfLine = (text: string, from: number): number =>
  from + (/^[^\r\n]*/.exec(text.slice(from))?.[0].length ?? 0);

const newLineOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

const toPair = (name: string, value: unknown): string => `${toKey(name)} = ${toValue(value)}`;

const toKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : toValue(name));

/** Strings and lists of them: all that an entry has. JSON's escapes are TOML's, but for one character. */
const toValue = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(toValue).join(", ")}]`
    : JSON.stringify(value).replaceAll("\x7f", "\\u007f");
