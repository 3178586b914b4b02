import { type Attributes, createTagReader } from "../../tags.ts";

export interface Element {
  readonly name: string;
  readonly attributes: Attributes;
  readonly parent: Element | undefined;
  /** Its own text, without that of inner elements. */
  text: string;
  isClosed: boolean;
}

/** The elements of a pom.xml or a .csproj in order. An end tag that does not fit is ignored. */
export function readElements(xml: string): Element[] {
  const all: Element[] = [];
  let open: Element | undefined;
  const tags = createTagReader(xml, "xml", {
    open(name, attributes, isClosed) {
      const element: Element = { name, attributes, parent: open, text: "", isClosed };
      all.push(element);
      if (!isClosed) open = element;
    },
    close(name) {
      if (open?.name !== name) return;
      open.isClosed = true;
      open = open.parent;
    },
    text(text) {
      if (open) open.text += text;
    },
  });
  tags.write(xml);
  tags.end();
  return all;
}

export const textsOf = (elements: readonly Element[], name: string): string[] =>
  elements.filter((element) => element.name === name).map(({ text }) => text.trim());

export const attributesOf = (elements: readonly Element[], name: string, attribute: string): string[] =>
  elements.flatMap((element) => (element.name === name && element.attributes[attribute]) || []);
