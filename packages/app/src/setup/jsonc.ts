import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  createScanner,
  type FormattingOptions,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
} from "jsonc-parser";
import { type ConfigFormat, ConfigProblem, type Entry, newLineOf } from "./config-format.ts";

/** JSON with comments and trailing commas. */
export const jsonc: ConfigFormat = {
  read(text, path) {
    const property = locate(text, path);
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
    const property = locate(text, path);
    return property ? removeProperty(text, property) : text;
  },
};

function setValue(text: string, path: readonly string[], value: unknown): string {
  const property = locate(text, path);
  if (property && isDeepStrictEqual(getNodeValue(valueIn(property)), value)) return text;
  const document = parse(text) ? text : `${text}{}${newLineOf(text)}`;
  const formattingOptions = layoutOf(document);
  // In the first place: a comment behind the last property stays there.
  const options = { getInsertionIndex: () => 0, ...(formattingOptions && { formattingOptions }) };
  return applyEdits(document, modify(document, [...path], value, options));
}

/** undefined when everything is on one line, and shall stay so. */
function layoutOf(text: string): FormattingOptions | undefined {
  const content = text.trim();
  if (!content.includes("\n") && content !== "{}") return undefined;
  // Lines of a block comment start with an asterisk.
  const [, indent = "  "] = /^([ \t]+)[^\s*]/m.exec(text) ?? [];
  return { eol: newLineOf(text), insertSpaces: !indent.startsWith("\t"), tabSize: indent.length };
}

/** Unlike `modify`, preserves the comments beside the property. */
function removeProperty(text: string, property: Node): string {
  const siblings = property.parent?.children ?? [];
  const before = siblings[siblings.indexOf(property) - 1];
  const comma = commaAfter(text, property) ?? (before && commaAfter(text, before));
  const parts = comma === undefined ? [property] : [property, { offset: comma, length: 1 }];
  const rest = applyEdits(
    text,
    parts.map(({ offset, length }) => ({ offset, length, content: "" })),
  );
  const at = property.offset - (comma !== undefined && comma < property.offset ? 1 : 0);
  const [head, tail] = [rest.slice(0, at), rest.slice(at)];
  const isBlankLine = /[\r\n][ \t]*$/.test(head) && /^[ \t]*[\r\n]/.test(tail);
  return isBlankLine ? head.replace(/\r?\n[ \t]*$/, "") + tail : rest;
}

/** The offset of the comma that follows, perhaps after comments; undefined when there is none. */
function commaAfter(text: string, { offset, length }: Node): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset + length);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

/** undefined when there is no such property. */
function locate(text: string, path: readonly string[]): Node | undefined {
  const root = parse(text);
  let object = root && objectAt(text, root);
  for (const [at, name] of path.entries()) {
    const [property, second] = (object?.children ?? []).filter(
      ({ children }) => children?.[0]?.value === name,
    );
    // Programs disagree about which of two equal names counts.
    if (second) throw new ConfigProblem(text, second.offset, `"${name}" occurs twice`);
    if (!property || at === path.length - 1) return property;
    object = objectAt(text, valueIn(property));
  }
  return undefined;
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
  throw new ConfigProblem(text, node.offset, "expected an object in braces here");
}

// A property that was parsed without errors has a name and a value.
const valueIn = (property: Node): Node => property.children?.[1] as Node;
