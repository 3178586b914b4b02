/** The tokens of a document, in order. */
export type XmlToken =
  | {
      readonly kind: "open";
      readonly name: string;
      readonly attributes: ReadonlyMap<string, string>;
      readonly empty: boolean;
    }
  | { readonly kind: "close"; readonly name: string }
  | { readonly kind: "text"; readonly text: string }
  /** No content, but time has passed: the reader can pause here. */
  | { readonly kind: "skipped" }
  /** The last token: the rest is not read. */
  | { readonly kind: "refused"; readonly reason: string };

const MAX_TAG_CHARS = 1_048_576;
const MAX_ATTRIBUTES = 1_000;
const MAX_TEXT_CHARS = 65_536;
/** The maximum length of an entity. */
const MAX_ENTITY_CHARS = 10;

/**
 * Parses the XML subset that reports need, and recovers from malformed input. Declared entities are not expanded, so
 * they can neither grow nor reach files. Takes linear time with short waits between tokens.
 */
export function* readXml(xml: string): Generator<XmlToken> {
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf("<", at);
    if (open !== at) {
      yield* readText(xml, at, open < 0 ? xml.length : open);
      if (open < 0) return;
    }
    if (xml.startsWith("<![CDATA[", open)) {
      const end = endOf(xml, "]]>", open);
      yield { kind: "text", text: xml.slice(open + "<![CDATA[".length, end - "]]>".length) };
      at = end;
    } else if (xml.startsWith("<!", open) || xml.startsWith("<?", open)) {
      at = endOfSkipped(xml, open);
      yield { kind: "skipped" };
    } else {
      const end = endOfTag(xml, open);
      if (end === undefined) return;
      const token = end - open > MAX_TAG_CHARS ? TOO_LARGE : toTag(xml.slice(open + 1, end - 1));
      yield token;
      if (token.kind === "refused") return;
      at = end;
    }
  }
}

/** Text in pieces that never end inside an entity. */
function* readText(xml: string, from: number, to: number): Generator<XmlToken> {
  for (let at = from; at < to; ) {
    let end = Math.min(to, at + MAX_TEXT_CHARS);
    const entity = end < to ? xml.slice(end - MAX_ENTITY_CHARS, end).lastIndexOf("&") : -1;
    if (entity >= 0) end += entity - MAX_ENTITY_CHARS;
    const text = xml.slice(at, end);
    yield text.trim() === "" ? { kind: "skipped" } : { kind: "text", text: decodeEntities(text) };
    at = end;
  }
}

const TOO_LARGE: XmlToken = {
  kind: "refused",
  reason: `a tag of the report has more than ${MAX_TAG_CHARS} characters or ${MAX_ATTRIBUTES} attributes`,
};

function endOfSkipped(xml: string, from: number): number {
  if (xml.startsWith("<!--", from)) return endOf(xml, "-->", from);
  return xml.startsWith("<?", from) ? endOf(xml, "?>", from) : endOfDeclaration(xml, from);
}

const endOf = (xml: string, mark: string, from: number): number => {
  const at = xml.indexOf(mark, from);
  return at < 0 ? xml.length + mark.length : at + mark.length;
};

/** A document type may contain declarations in brackets, with `>` in them. */
function endOfDeclaration(xml: string, from: number): number {
  const end = endOf(xml, ">", from);
  const bracket = xml.slice(from, end).indexOf("[");
  return bracket < 0 ? end : endOf(xml, ">", endOf(xml, "]", from + bracket));
}

/**
 * `>` may occur in the value of an attribute. undefined for an incomplete tag; beyond the limit for one too large.
 */
function endOfTag(xml: string, from: number): number | undefined {
  for (let at = from + 1; at < xml.length; at++) {
    const char = xml[at];
    if (char === ">" || at - from > MAX_TAG_CHARS) return at + 1;
    if (char !== '"' && char !== "'") continue;
    const quote = xml.indexOf(char, at + 1);
    if (quote < 0) break;
    at = quote;
  }
  return undefined;
}

function toTag(inner: string): XmlToken {
  const [, slash, name = ""] = /^(\/?)([\w:.-]+)/.exec(inner) ?? [];
  if (name === "") return { kind: "skipped" };
  if (slash) return { kind: "close", name };
  const attributes = new Map<string, string>();
  let count = 0;
  for (const [, key = "", double, single = ""] of inner.matchAll(/\s([\w:.-]+)=(?:"([^"]*)"|'([^']*)')/g)) {
    attributes.set(key, decodeEntities(double ?? single));
    if (++count > MAX_ATTRIBUTES) return TOO_LARGE;
  }
  return { kind: "open", name, attributes, empty: inner.endsWith("/") };
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const MAX_CODE_POINT = 0x10ffff;

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : whole;
  });
