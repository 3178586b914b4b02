import { Tokenizer } from "htmlparser2";
import { type ElementKind, impliedEnd, SCOPES, VOID } from "./elements.ts";

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The number of elements before it; the same in every pass over the same page. */
  readonly index: number;
}

export interface HtmlHandler {
  open(element: HtmlElement): void;
  text(text: string): void;
  close(element: HtmlElement): void;
}

/** How far up an end tag is matched: pages that need more are broken or hostile. */
const MAX_SCAN = 256;

/**
 * Emits the elements and texts of a page in order, in linear time at any depth; every opened element is closed. The
 * library's own parser shifts an array of open elements, which takes minutes for a deep page.
 */
export function readHtml(html: string, handler: HtmlHandler): void {
  const stack: HtmlElement[] = [];
  let count = 0;
  let name = "";
  let attributes: Record<string, string> = {};
  let attribute = "";
  let value = "";

  const popTo = (depth: number) => {
    while (stack.length > depth) handler.close(stack.pop()!);
  };
  const depthOf = (wanted: (name: string) => boolean, isScope: (name: string) => boolean): number => {
    for (let at = stack.length - 1; at >= Math.max(0, stack.length - MAX_SCAN); at--) {
      const open = stack[at]!.name;
      if (wanted(open)) return at;
      if (isScope(open)) return -1;
    }
    return -1;
  };
  const begin = () => {
    const { ends, scope } = impliedEnd(name);
    const depth =
      ends.size === 0
        ? -1
        : depthOf(
            (open) => ends.has(open),
            (open) => scope.has(open),
          );
    if (depth >= 0) popTo(depth);
    const element = { name, attributes, index: count++ };
    handler.open(element);
    if (VOID.has(name)) handler.close(element);
    else stack.push(element);
  };
  const end = (closed: string) => {
    const scope: ReadonlySet<string> = SCOPES[closed as ElementKind] ?? SCOPES.other;
    const depth = depthOf(
      (open) => open === closed,
      (open) => scope.has(open),
    );
    if (depth >= 0) popTo(depth);
  };

  const nothing = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, stop) {
        name = html.slice(start, stop).toLowerCase();
        attributes = Object.create(null);
      },
      onattribname(start, stop) {
        attribute = html.slice(start, stop).toLowerCase();
        value = "";
      },
      onattribdata(start, stop) {
        value += html.slice(start, stop);
      },
      onattribentity(codePoint) {
        value += String.fromCodePoint(codePoint);
      },
      onattribend() {
        attributes[attribute] ??= value;
      },
      onopentagend: begin,
      onselfclosingtag: begin,
      onclosetag: (start, stop) => end(html.slice(start, stop).toLowerCase()),
      ontext: (start, stop) => handler.text(html.slice(start, stop)),
      ontextentity: (codePoint) => handler.text(String.fromCodePoint(codePoint)),
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  popTo(0);
}
