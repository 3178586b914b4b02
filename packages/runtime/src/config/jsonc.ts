import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

/** Invalid JSONC, with the offset of the error. */
export class JsoncError extends Error {
  override readonly name = "JsoncError";
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Offsets of a value in the text and of its key, or again of the value. */
interface Place {
  readonly key: number;
  readonly value: number;
}

export type Jsonc = ReturnType<typeof parseJsonc>;

/** JSON with comments and trailing commas. Objects of the value have no prototype. */
export function parseJsonc(text: string) {
  refuseDepth(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors.sort((a, b) => a.offset - b.offset);
  if (first || !root) throw new JsoncError(first?.offset ?? 0, messageOf(first));
  const places = findPlaces(root);
  return {
    root,
    // The library says any.
    value: getNodeValue(root) as unknown,
    placeOf: (path: readonly PropertyKey[]): Place | undefined => places.get(toKey(path)),
  };
}

const MAX_DEPTH = 32;

/** The parser would run out of stack. */
function refuseDepth(text: string): void {
  const scanner = createScanner(text, true);
  for (let depth = 0; scanner.getPosition() < text.length; ) {
    scanner.scan();
    const sign = text[scanner.getTokenOffset()];
    if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    if (depth > MAX_DEPTH)
      throw new JsoncError(scanner.getTokenOffset(), `expected at most ${MAX_DEPTH} levels`);
  }
}

function findPlaces(root: Node): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  const visit = (node: Node, path: readonly PropertyKey[], key = node.offset): void => {
    places.set(toKey(path), { key, value: node.offset });
    for (const [at, child] of (node.children ?? []).entries()) {
      const [name, value] = child.type === "property" ? (child.children ?? []) : [];
      if (!name || !value) {
        visit(child, [...path, at]);
        continue;
      }
      const inner = [...path, String(name.value)];
      if (places.has(toKey(inner)))
        throw new JsoncError(name.offset, `expected each name once; "${name.value}" is here twice`);
      visit(value, inner, name.offset);
    }
  };
  visit(root, []);
  return places;
}

const toKey = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

function messageOf(error: ParseError | undefined): string {
  switch (error && printParseErrorCode(error.error)) {
    case "PropertyNameExpected":
      return "expected a name in double quotes or }";
    case "ColonExpected":
      return "expected :";
    case "CommaExpected":
      return "expected , or } or ]";
    case "CloseBraceExpected":
      return "expected , or }";
    case "CloseBracketExpected":
      return "expected , or ]";
    case "EndOfFileExpected":
      return "expected the end of the file";
    case "UnexpectedEndOfComment":
      return "this comment is not closed; expected */";
    case "UnexpectedEndOfString":
    case "InvalidEscapeCharacter":
    case "InvalidUnicode":
    case "InvalidCharacter":
      return "expected a string that ends with \" on its line and has only JSON's escapes";
    case "InvalidSymbol":
      return "expected a value, or a name in double quotes";
    default:
      return "expected a value";
  }
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
