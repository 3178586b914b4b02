/// <reference lib="dom" />
import type { Item, Part, Reading } from "./reading.ts";
import type { TreeRequest } from "./requests.ts";
import type { Texts } from "./texts.ts";

export interface Line {
  /** A ref, or the text and its position. */
  readonly key: string;
  readonly level: number;
  readonly text: string;
  /** The ref of its parent. */
  readonly parent: string;
}

/** Elements by ref, and refs by element. */
export interface Refs {
  readonly byElement: WeakMap<Element, string>;
  readonly byRef: Map<string, WeakRef<Element>>;
  /** The first number that no element of this document has, also when an answer never arrived. */
  next: number;
}

/** Renders a tree as lines. Self-contained: it is sent to pages as source. */
export function createRendering(
  { clean, cut, show, MAX_TEXT }: Texts,
  { textOf, isInteractive }: Reading,
  refs: Refs,
) {
  const WITH_REF = new Set(
    "heading main navigation form dialog alertdialog region table list row group img video canvas status alert figure article tree grid menu tablist".split(
      " ",
    ),
  );
  /** Lines with keys that are stable for the same element. */
  function render(parts: readonly Part[], request: TreeRequest) {
    const { interactive, depth, maxChars, prefix } = request;
    const lines: Line[] = [];
    refs.next = Math.max(refs.next, request.next);
    let chars = 0;
    let isFull = false;
    const refOf = (element: Element): string => {
      const known = refs.byElement.get(element);
      if (known) return known;
      const ref = `${prefix}e${refs.next++}`;
      refs.byElement.set(element, ref);
      refs.byRef.set(ref, new WeakRef(element));
      return ref;
    };
    const add = (key: string, level: number, raw: string, parent: string) => {
      const text = show(raw);
      chars += text.length + 2 * level + 1;
      if (chars > maxChars) isFull = true;
      else lines.push({ key, level, text, parent });
    };
    const list = (children: readonly Part[], level: number, parent: string): void => {
      let text = "";
      const flush = () => {
        const line = cut(clean(text), MAX_TEXT);
        text = "";
        if (line && !interactive) add(`${parent}|${line}`, level, `- text: ${line}`, parent);
      };
      for (const part of children) {
        if (isFull) return;
        if (part === null) flush();
        else if (typeof part === "string") text += part;
        else {
          flush();
          node(part, level, parent);
        }
      }
      flush();
    };
    const node = (item: Item, level: number, parent: string): void => {
      const { element, role, name, states, children, acts = false } = item;
      // The options of a select box are chosen by ui.select.
      const isTarget = acts || (isInteractive(role) && element.tagName !== "OPTION");
      if (interactive && !isTarget) {
        list(children, level, parent);
        return;
      }
      // A list item that contains only a link, for example, is shown as the link.
      if (role === "listitem" && !name && !states && !acts && isOnlyItem(children)) {
        list(children, level, parent);
        return;
      }
      const hasRef = isTarget || WITH_REF.has(role);
      const ref = hasRef ? refOf(element) : undefined;
      const only = children.length > 0 && children.every((part) => typeof part !== "object" || part === null);
      const inline = only && !interactive ? cut(clean(textOf(children)), MAX_TEXT) : "";
      const head = `- ${role}${name ? ` ${JSON.stringify(name)}` : ""}${ref ? ` [${ref}]` : ""}${states}`;
      const text = inline && inline !== name ? `${head}: ${inline}` : head;
      const isEmptyBox = !name && !inline && children.length === 0 && !isTarget && states === "";
      if (!isEmptyBox) add(ref ?? `${parent}|${text}`, level, text, parent);
      if (only) return;
      if (depth > 0 && level + 1 >= depth) return;
      list(children, interactive ? level : level + 1, ref ?? parent);
    };
    list(parts, 0, "");
    return { lines, next: refs.next, isFull };
  }

  /** One element without other text. */
  const isOnlyItem = (parts: readonly Part[]): boolean => {
    const told = parts.filter((part) => part !== null && (typeof part === "object" || clean(part) !== ""));
    return told.length === 1 && typeof told[0] === "object";
  };

  const toText = (lines: readonly Line[]): string =>
    lines.map(({ level, text }) => "  ".repeat(level) + text).join("\n");

  return { render, toText };
}

export type Rendering = ReturnType<typeof createRendering>;
