import { type JsonArray, type JsonObject, parseJsonc } from "./jsonc.ts";

/** The text with one more item in a list, or entry in a map; all comments and the layout stay. */
export function insertInto(
  text: string,
  container: JsonArray | JsonObject,
  index: number,
  item: string,
): string {
  const children = childrenOf(container);
  const closing = container.end - 1;
  const layout = layoutOf(text, container);
  const next = children[index];
  if (next) return splice(text, next.start, next.start, `${item},${layout.separator}`);

  const last = children.at(-1);
  const from = last?.end ?? container.start + 1;
  const tail = text.slice(from, closing);
  const kept = tail.trimEnd();
  const comma = last && !container.trailingComma ? "," : "";
  const space = last ? tail.slice(kept.length) : layout.beforeClosing;
  return splice(text, from, closing, `${comma}${kept}${layout.separator}${item}${space}`);
}

/** The text with something else in place of a value. */
export const splice = (text: string, start: number, end: number, put: string): string =>
  text.slice(0, start) + put + text.slice(end);

const childrenOf = (container: JsonArray | JsonObject): readonly { start: number; end: number }[] =>
  container.kind === "array"
    ? container.items
    : [...container.entries.values()].map(({ start, value }) => ({ start, end: value.end }));

function layoutOf(text: string, container: JsonArray | JsonObject) {
  const [first] = childrenOf(container);
  const newLine = text.includes("\r\n") ? "\r\n" : "\n";
  const isOneLine = first && !/[\r\n]/.test(text.slice(container.start, container.end));
  if (isOneLine) return { separator: " ", beforeClosing: "" };
  const outer = indentAt(text, container.start);
  const inner =
    first && /^\s*$/.test(lineBefore(text, first.start)) ? indentAt(text, first.start) : `${outer}  `;
  return { separator: `${newLine}${inner}`, beforeClosing: `${newLine}${outer}` };
}

const lineBefore = (text: string, offset: number): string =>
  /[^\r\n]*$/.exec(text.slice(0, offset))?.[0] ?? "";

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(lineBefore(text, offset))?.[0] ?? "";

/** A settings file is an object; parseSettings has checked that. */
export function parseObject(text: string): JsonObject {
  const root = parseJsonc(text);
  if (root.kind !== "object") throw new TypeError("expected an object");
  return root;
}
