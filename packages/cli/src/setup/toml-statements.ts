import { ConfigProblem } from "./config-problem.ts";

/** `[a.b]`, `[[a.b]]` or `a.b = value`, with its offsets; the end is exclusive and before the line end. */
export interface TomlStatement {
  readonly kind: "table" | "list" | "pair";
  readonly keys: readonly string[];
  readonly start: number;
  readonly end: number;
  /** For a key-value pair. */
  readonly value?: { readonly start: number; readonly data: unknown };
}

/** Numbers become JavaScript numbers where possible; dates and other values stay as written. */
export function parseToml(text: string): TomlStatement[] {
  let at = 0;

  const match = (sticky: RegExp): string | undefined => {
    sticky.lastIndex = at;
    const found = sticky.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  const fail = (expected: string): never => {
    throw new ConfigProblem(text, at, `this is not valid TOML: expected ${expected}`);
  };
  const expect = (token: string): void => void (take(token) || fail(token));

  const parseStatement = (): TomlStatement => {
    const start = at;
    if (take("[[")) {
      const keys = parseKeys();
      expect("]]");
      return { kind: "list", keys, start, end: at };
    }
    if (take("[")) {
      const keys = parseKeys();
      expect("]");
      return { kind: "table", keys, start, end: at };
    }
    const { keys, value } = parsePair();
    return { kind: "pair", keys, start, end: at, value };
  };

  const parsePair = () => {
    const keys = parseKeys();
    expect("=");
    match(SPACE);
    const start = at;
    return { keys, value: { start, data: parseValue(1) } };
  };

  const parseKeys = (): string[] => {
    const keys: string[] = [];
    do {
      match(SPACE);
      keys.push(match(BARE_KEY) ?? parseLine() ?? fail("a name"));
      match(SPACE);
    } while (take("."));
    return keys;
  };

  const parseValue = (depth: number): unknown => {
    if (depth > MAX_DEPTH) fail(`at most ${MAX_DEPTH} levels`);
    if (take("[")) return parseList(depth);
    if (take("{")) return parseInlineTable(depth);
    return parseBlock() ?? parseLine() ?? toScalar(match(SCALAR) ?? fail("a value"));
  };

  const parseList = (depth: number): unknown[] => {
    const items: unknown[] = [];
    for (match(BLANK); !take("]"); match(BLANK)) {
      items.push(parseValue(depth + 1));
      match(BLANK);
      if (!take(",") && text[at] !== "]") fail(", or ]");
    }
    return items;
  };

  const parseInlineTable = (depth: number): object => {
    const table: Table = newTable();
    for (match(BLANK); !take("}"); match(BLANK)) {
      const keys = parseKeys();
      expect("=");
      match(SPACE);
      put(table, keys, parseValue(depth + 1));
      match(BLANK);
      if (!take(",") && text[at] !== "}") fail(", or }");
    }
    return table;
  };

  /** A multi-line string. */
  const parseBlock = (): string | undefined => {
    for (const quotes of ['"""', "'''"] as const) {
      if (!take(quotes)) continue;
      const body = match(quotes === '"""' ? BASIC_BLOCK : LITERAL_BLOCK) ?? fail(quotes);
      const content = body.slice(0, -3).replace(/^\r?\n/, "");
      return quotes === "'''" ? content : decodeEscapes(content.replace(/\\[ \t]*\r?\n\s*/g, ""));
    }
    return undefined;
  };

  const parseLine = (): string | undefined => {
    if (text[at] === "'") return (match(LITERAL) ?? fail("'")).slice(1, -1);
    if (text[at] === '"') return decodeEscapes((match(BASIC) ?? fail('"')).slice(1, -1));
    return undefined;
  };

  const statements: TomlStatement[] = [];
  for (match(BLANK); at < text.length; match(BLANK)) {
    statements.push(parseStatement());
    match(COMMENT);
    if (at < text.length && !/[\r\n]/.test(text[at] ?? "")) fail("the end of the line");
  }
  return statements;
}

/** Combines the statements. Below an array of tables, a path refers to its last table. */
export function toTable(statements: readonly TomlStatement[]): unknown {
  const root = newTable();
  let table: Table = root;
  for (const { kind, keys, value } of statements) {
    if (kind === "pair") put(table, keys, value?.data);
    if (kind === "table") table = open(root, keys);
    if (kind === "list") {
      const parent = open(root, keys.slice(0, -1));
      const name = keys.at(-1) ?? "";
      const list = Array.isArray(parent[name]) ? parent[name] : [];
      table = newTable();
      parent[name] = [...list, table];
    }
  }
  return root;
}

type Table = Record<string, unknown>;

// Without a prototype: __proto__ is an ordinary key.
const newTable = (): Table => Object.create(null) as Table;

function put(table: Table, keys: readonly string[], value: unknown): void {
  open(table, keys.slice(0, -1))[keys.at(-1) ?? ""] = value;
}

function open(from: Table, keys: readonly string[]): Table {
  return keys.reduce<Table>((table, key) => {
    const found = Array.isArray(table[key]) ? table[key].at(-1) : table[key];
    if (typeof found === "object" && found !== null) return found as Table; // All objects here are tables.
    const made = newTable();
    table[key] = made;
    return made;
  }, from);
}

const MAX_DEPTH = 32;
const SPACE = /[ \t]*/y;
const BLANK = /(?:[ \t\r\n]+|#[^\r\n]*)*/y;
const COMMENT = /[ \t]*(?:#[^\r\n]*)?/y;
const BARE_KEY = /[\w-]+/y;
const LITERAL = /'[^'\r\n]*'/y;
const BASIC = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y;
// Up to two quotes may precede the closing three.
const LITERAL_BLOCK = /[\s\S]*?'''(?!')/y;
const BASIC_BLOCK = /(?:[^"\\]|\\[\s\S]|"(?!"")|"(?="""))*"""/y;
const SCALAR = /true|false|[+-]?(?:inf|nan)|[+-]?\d[\w.:+-]*(?: \d[\d.:+Z-]*)?/y;

function toScalar(word: string): unknown {
  if (word === "true" || word === "false") return word === "true";
  const number = Number(word.replaceAll("_", ""));
  return Number.isFinite(number) ? number : word;
}

const decodeEscapes = (text: string): string =>
  text.replace(/\\(u[\da-fA-F]{4}|U[\da-fA-F]{8}|x[\da-fA-F]{2}|[\s\S])/g, (all, code: string) => {
    if (code.length === 1) return ESCAPES[code] ?? code;
    const point = Number.parseInt(code.slice(1), 16);
    return point > LAST_CODE_POINT ? all : String.fromCodePoint(point);
  });

const LAST_CODE_POINT = 0x10ffff;
const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\x1b",
};
