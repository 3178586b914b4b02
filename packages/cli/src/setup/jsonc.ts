import { isDeepStrictEqual } from "node:util";
import { getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import { type ConfigFormat, ConfigProblem, type Entry } from "./config-format.ts";
import { insertProperty, removeProperty, replaceValue, startDocument } from "./jsonc-edits.ts";

/** JSON with comments and trailing commas. */
export const jsonc: ConfigFormat = {
  read(text, path) {
    const { property } = locate(text, path);
    // objectAt returns only objects.
    return property && (getNodeValue(objectAt(text, valueIn(property))) as Entry);
  },

  set(text, path, fields) {
    if (jsonc.read(text, path) === undefined) return setValue(text, path, fields);
    return Object.entries(fields).reduce(
      (changed, [name, value]) => setValue(changed, [...path, name], value),
      text,
    );
  },

  remove(text, path) {
    const { property } = locate(text, path);
    return property ? removeProperty(text, property) : text;
  },
};

function setValue(text: string, path: readonly string[], value: unknown): string {
  const { property, innermost, missing } = locate(text, path);
  if (property) {
    const old = valueIn(property);
    return isDeepStrictEqual(getNodeValue(old), value) ? text : replaceValue(text, old, value);
  }
  if (!innermost) return startDocument(text, nest(missing, value));
  const [name = "", ...rest] = missing;
  return insertProperty(text, innermost, name, nest(rest, value));
}

interface Located {
  readonly property?: Node;
  /** The innermost existing object on the path; undefined when the file is blank. */
  readonly innermost?: Node;
  /** The names below it that are missing. */
  readonly missing: readonly string[];
}

function locate(text: string, path: readonly string[]): Located {
  const root = parse(text);
  if (!root) return { missing: path };
  let innermost = objectAt(text, root);
  for (const [at, name] of path.entries()) {
    const [property, second] = (innermost.children ?? []).filter(
      ({ children }) => children?.[0]?.value === name,
    );
    // Programs disagree about which of two equal names counts.
    if (second) throw new ConfigProblem(text, second.offset, `"${name}" is here twice`);
    if (!property) return { innermost, missing: path.slice(at) };
    if (at === path.length - 1) return { property, innermost, missing: [] };
    innermost = objectAt(text, valueIn(property));
  }
  return { innermost, missing: [] };
}

/** undefined when there are only blanks and comments. */
function parse(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) throw new ConfigProblem(text, error.offset, "from here on this is not valid JSON");
  return root;
}

function objectAt(text: string, node: Node): Node {
  if (node.type === "object") return node;
  throw new ConfigProblem(text, node.offset, "an object in braces should stand here");
}

// A property that was parsed without errors has a name and a value.
const valueIn = (property: Node): Node => property.children?.[1] as Node;

const nest = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner, name) => ({ [name]: inner }), value);
