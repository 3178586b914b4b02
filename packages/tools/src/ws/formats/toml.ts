import { TextScanner } from "./text-scanner.ts";

type Table = Record<string, unknown>;

/**
 * What a manifest in TOML says: tables, dotted keys, strings of all four kinds, lists and inline tables. Numbers,
 * dates and booleans are recognised and come as null, since no manifest field that we read has one. A statement
 * that makes no sense is passed over; the first of them is the problem.
 */
export function readToml(text: string): { value: unknown; problem?: string } {
  const scanner = new TextScanner(text);
  const root: Table = newTable();
  let table = root;
  let problem: string | undefined;
  for (scanner.skipBlank(); !scanner.isAtEnd; scanner.skipBlank()) {
    const start = scanner.position;
    const header = readHeader(scanner, root);
    const isRead = header ?? readPair(scanner, table);
    if (header) table = header;
    if (isRead && scanner.endsLine()) continue;
    problem ??= `not valid TOML: line ${text.slice(0, start).split("\n").length}`;
    scanner.skipLine();
  }
  return { value: root, ...(problem !== undefined && { problem }) };
}

// No prototype: a key such as __proto__ is a key like any other.
const newTable = (): Table => Object.create(null) as Table;

/** The table that `[a.b]` or `[[a.b]]` opens. */
function readHeader(scanner: TextScanner, root: Table): Table | undefined {
  if (!scanner.take("[")) return undefined;
  const isList = scanner.take("[");
  const keys = readKeys(scanner);
  if (!keys || !scanner.take(isList ? "]]" : "]")) return undefined;
  if (!isList) return openTable(root, keys);
  const last = keys.pop() as string;
  const parent = openTable(root, keys);
  if (!parent) return undefined;
  parent[last] ??= [];
  if (!Array.isArray(parent[last])) return undefined;
  const table = newTable();
  parent[last].push(table);
  return table;
}

function readPair(scanner: TextScanner, table: Table): true | undefined {
  const keys = readKeys(scanner);
  if (!keys || !scanner.take("=")) return undefined;
  const value = readValue(scanner, 0);
  const last = keys.pop() as string;
  const parent = openTable(table, keys);
  if (value === undefined || !parent) return undefined;
  parent[last] = value;
  return true;
}

/** Goes down, making what is missing; a list of tables stands for its newest one. */
function openTable(from: Table, keys: readonly string[]): Table | undefined {
  let table = from;
  for (const key of keys) {
    table[key] ??= newTable();
    const next = Array.isArray(table[key]) ? table[key].at(-1) : table[key];
    if (typeof next !== "object" || next === null) return undefined;
    table = next as Table; // Every object in here was made by newTable.
  }
  return table;
}

/** One key at least. */
function readKeys(scanner: TextScanner): string[] | undefined {
  const keys: string[] = [];
  do {
    scanner.skipSpace();
    const key = readString(scanner) ?? scanner.match(/[\w-]+/y);
    if (key === undefined || keys.length === MAX_DEPTH) return undefined;
    keys.push(key);
    scanner.skipSpace();
  } while (scanner.take("."));
  return keys;
}

const MAX_DEPTH = 32;

function readValue(scanner: TextScanner, depth: number): unknown {
  scanner.skipSpace();
  if (depth > MAX_DEPTH) return undefined;
  if (scanner.take("[")) return readList(scanner, depth);
  if (scanner.take("{")) return readInlineTable(scanner, depth);
  const text = readString(scanner);
  if (text !== undefined) return text;
  return scanner.match(/(?:true|false|[+-]?(?:\d[\w.:+-]*|inf|nan))/y) === undefined ? undefined : null;
}

function readList(scanner: TextScanner, depth: number): unknown[] | undefined {
  const list: unknown[] = [];
  for (scanner.skipBlank(); !scanner.take("]"); scanner.skipBlank()) {
    const value = readValue(scanner, depth + 1);
    if (value === undefined) return undefined;
    list.push(value);
    scanner.skipBlank();
    if (scanner.take(",")) continue;
    return scanner.take("]") ? list : undefined;
  }
  return list;
}

function readInlineTable(scanner: TextScanner, depth: number): Table | undefined {
  const table = newTable();
  for (scanner.skipBlank(); !scanner.take("}"); scanner.skipBlank()) {
    const keys = readKeys(scanner);
    if (!keys || !scanner.take("=")) return undefined;
    const value = readValue(scanner, depth + 1);
    const last = keys.pop() as string;
    const parent = openTable(table, keys);
    if (value === undefined || !parent) return undefined;
    parent[last] = value;
    scanner.skipBlank();
    if (scanner.take(",")) continue;
    return scanner.take("}") ? table : undefined;
  }
  return table;
}

function readString(scanner: TextScanner): string | undefined {
  for (const quotes of ['"""', "'''"]) {
    if (scanner.take(quotes)) return scanner.until(quotes)?.replace(/^\r?\n/, "");
  }
  if (scanner.take("'")) return scanner.match(/[^'\n]*(?=')/y, 1);
  if (!scanner.take('"')) return undefined;
  return scanner.match(/(?:[^"\\\n]|\\.)*(?=")/y, 1)?.replace(/\\(u[0-9a-fA-F]{4}|.)/g, toCharacter);
}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" };

const toCharacter = (_: string, code: string): string =>
  code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code);
