/**
 * The part of a document that abcjs draws on: a tree of elements, written as SVG. It has no fonts; the size of a text is
 * estimated, as abcjs does where a browser gives none.
 */
export class SvgElement {
  readonly tagName: string;
  readonly style: Record<string, string> = {};
  readonly children: SvgElement[] = [];
  readonly #attributes = new Map<string, string>();
  parentNode: SvgElement | null = null;
  textContent = "";

  constructor(tagName: string) {
    this.tagName = tagName;
  }

  get parentElement(): SvgElement | null {
    return this.parentNode;
  }

  get firstChild(): SvgElement | null {
    return this.children[0] ?? null;
  }

  /** abcjs sets it to empty an element, or to a single `&nbsp;`. */
  set innerHTML(html: string) {
    this.children.length = 0;
    this.textContent = html === "&nbsp;" ? "\u00a0" : "";
  }

  appendChild(child: SvgElement): SvgElement {
    return this.insertBefore(child, null);
  }

  insertBefore(child: SvgElement, next: SvgElement | null): SvgElement {
    child.parentNode?.removeChild(child);
    const at = next ? this.children.indexOf(next) : -1;
    this.children.splice(at < 0 ? this.children.length : at, 0, child);
    child.parentNode = this;
    return child;
  }

  removeChild(child: SvgElement): SvgElement {
    const at = this.children.indexOf(child);
    if (at >= 0) this.children.splice(at, 1);
    child.parentNode = null;
    return child;
  }

  setAttribute(name: string, value: unknown): void {
    if (value !== undefined && value !== null) this.#attributes.set(name, String(value));
  }

  setAttributeNS(_namespace: string | null, name: string, value: unknown): void {
    this.setAttribute(name, value);
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  addEventListener(): void {
    // Nobody clicks on a file.
  }

  getBBox() {
    const size = Number.parseFloat(this.getAttribute("font-size") ?? "") || DEFAULT_FONT_SIZE;
    const lines = this.children.length > 0 ? this.children : [this];
    const longest = Math.max(...lines.map((line) => line.toText().length));
    return {
      x: 0,
      y: 0,
      width: longest * size * WIDTH_PER_CHARACTER,
      height: lines.length * size * LINE_HEIGHT,
    };
  }

  toText(): string {
    return this.textContent + this.children.map((child) => child.toText()).join("");
  }

  toSvg(): string {
    const name = toName(this.tagName);
    const style = Object.entries(this.style).filter(([, value]) => value !== "");
    const attributes = [...this.#attributes, ...(style.length > 0 ? [["style", toCss(style)] as const] : [])];
    const written = attributes.map(([key, value]) => ` ${toName(key)}="${escapeXml(value)}"`).join("");
    const content = escapeXml(this.textContent) + this.children.map((child) => child.toSvg()).join("");
    return content === "" ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
  }
}

const DEFAULT_FONT_SIZE = 16;
const WIDTH_PER_CHARACTER = 0.55;
const LINE_HEIGHT = 1.2;

const toCss = (style: [string, string][]): string => style.map(([key, value]) => `${key}:${value}`).join(";");
const toName = (name: string): string => name.replaceAll(/[^A-Za-z0-9:_-]/g, "");
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Control characters are not allowed in XML, not even escaped. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(/[&<>"]/g, (one) => ESCAPES[one] ?? "")
    .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "");

export function createSvgDocument() {
  const body = new SvgElement("body");
  return {
    body,
    createElement: (name: string) => new SvgElement(name),
    createElementNS: (_namespace: string, name: string) => new SvgElement(name),
    createTextNode(text: string) {
      const node = new SvgElement("tspan");
      node.textContent = text;
      return node;
    },
    querySelector: () => body,
    getElementById: () => null,
  };
}
