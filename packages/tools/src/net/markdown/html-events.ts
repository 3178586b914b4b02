import { type Attributes, createTagReader } from "../../tags.ts";
import { type ElementKind, impliedEnd, SCOPES, VOID } from "./elements.ts";

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Attributes;
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

/** Emits the elements and texts of a page in order, in linear time at any depth; every opened element is closed. */
export function readHtml(html: string, handler: HtmlHandler): void {
  const stack: HtmlElement[] = [];
  let count = 0;
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
  const begin = (name: string, attributes: Attributes) => {
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

  const tags = createTagReader(html, "html", { open: begin, close: end, text: handler.text });
  tags.write(html);
  tags.end();
  popTo(0);
}
