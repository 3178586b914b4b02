/** JSON with comments and trailing commas, each value with its place in the text. */
export type JsonNode = JsonObject | JsonArray | JsonScalar;

export interface JsonObject extends Place {
  readonly kind: "object";
  /** In the order of the text. */
  readonly entries: ReadonlyMap<string, JsonEntry>;
  readonly trailingComma: boolean;
}

export interface JsonArray extends Place {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
  readonly trailingComma: boolean;
}

export interface JsonScalar extends Place {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

export interface JsonEntry {
  /** Where its key starts. */
  readonly start: number;
  readonly value: JsonNode;
}

/** Offsets in the text, in UTF-16 units; the end is exclusive. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Invalid JSONC, with the offset of the error. */
export class JsoncError extends Error {
  override readonly name = "JsoncError";
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const MAX_DEPTH = 32;

export function parseJsonc(text: string): JsonNode {
  let at = 0;

  const skipTrivia = () => {
    at += lengthOf(TRIVIA);
    if (text.startsWith("/*", at)) throw new JsoncError(at, "this comment is not closed; expected */");
  };

  const lengthOf = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 0;
  };

  const takes = (char: string): boolean => {
    if (text[at] !== char) return false;
    at++;
    return true;
  };

  const parseValue = (depth: number): JsonNode => {
    if (depth > MAX_DEPTH) throw new JsoncError(at, `expected at most ${MAX_DEPTH} levels`);
    if (text[at] === "{") return parseObject(depth);
    if (text[at] === "[") return parseArray(depth);
    return text[at] === '"' ? parseString() : parseWord();
  };

  const parseObject = (depth: number): JsonObject => {
    const start = at++;
    const entries = new Map<string, JsonEntry>();
    let separated = true;
    for (skipTrivia(); !takes("}"); skipTrivia()) {
      if (!separated) throw new JsoncError(at, "expected , or }");
      if (text[at] !== '"') throw new JsoncError(at, `expected a name in double quotes or }`);
      const key = parseString();
      if (entries.has(key.value))
        throw new JsoncError(key.start, `expected each name once; "${key.value}" is here twice`);
      skipTrivia();
      if (!takes(":")) throw new JsoncError(at, "expected :");
      skipTrivia();
      entries.set(key.value, { start: key.start, value: parseValue(depth + 1) });
      skipTrivia();
      separated = takes(",");
    }
    return { kind: "object", start, end: at, entries, trailingComma: separated && entries.size > 0 };
  };

  const parseArray = (depth: number): JsonArray => {
    const start = at++;
    const items: JsonNode[] = [];
    let separated = true;
    for (skipTrivia(); !takes("]"); skipTrivia()) {
      if (!separated) throw new JsoncError(at, "expected , or ]");
      items.push(parseValue(depth + 1));
      skipTrivia();
      separated = takes(",");
    }
    return { kind: "array", start, end: at, items, trailingComma: separated && items.length > 0 };
  };

  const parseString = (): JsonScalar & { value: string } => {
    const start = at;
    const length = lengthOf(STRING);
    if (length === 0)
      throw new JsoncError(
        start,
        "expected a string that ends with \" on its line and has only JSON's escapes",
      );
    at += length;
    // The pattern matches a JSON string and nothing else.
    const value = JSON.parse(text.slice(start, at)) as string;
    return { kind: "scalar", start, end: at, value };
  };

  const parseWord = (): JsonScalar => {
    const start = at;
    at += lengthOf(WORD);
    const word = text.slice(start, at);
    if (!LITERAL.test(word)) throw new JsoncError(start, "expected a value");
    // The pattern matches a JSON number, true, false and null.
    const value = JSON.parse(word) as number | boolean | null;
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
      throw new JsoncError(start, "expected a smaller number");
    return { kind: "scalar", start, end: at, value };
  };

  skipTrivia();
  const root = parseValue(1);
  skipTrivia();
  if (at < text.length) throw new JsoncError(at, "expected the end of the file");
  return root;
}

const TRIVIA = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
// No character can be taken in two ways: a string without an end is refused in linear time.
const STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\x00-\x1f]*)*"/y;
const WORD = /[^\s,:[\]{}"/]+/y;
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** The plain value. Objects have no prototype, so that `__proto__` is a name like any other. */
export function toValue(node: JsonNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.items.map(toValue);
  const object = Object.create(null) as Record<string, unknown>;
  for (const [name, { value }] of node.entries) object[name] = toValue(value);
  return object;
}

/** Line and column of an offset, both from 1. */
export function createLineIndex(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ 0: end, index }) => index + end.length)];
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}
