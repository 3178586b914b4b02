/** What a document consists of, in order. */
export type XmlToken =
  | {
      readonly kind: "open";
      readonly name: string;
      readonly attributes: ReadonlyMap<string, string>;
      readonly empty: boolean;
    }
  | { readonly kind: "close"; readonly name: string }
  | { readonly kind: "text"; readonly text: string };

/**
 * Reads XML as far as reports need it, and goes on after what is not well formed. Entities that a document declares
 * are not known here, so they can neither grow nor reach for anything.
 */
export function* readXml(xml: string): Generator<XmlToken> {
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf("<", at);
    if (open !== at) {
      const text = xml.slice(at, open < 0 ? xml.length : open);
      if (text.trim() !== "") yield { kind: "text", text: decodeEntities(text) };
      if (open < 0) return;
    }
    if (xml.startsWith("<![CDATA[", open)) {
      const end = endOf(xml, "]]>", open);
      yield { kind: "text", text: xml.slice(open + "<![CDATA[".length, end - "]]>".length) };
      at = end;
    } else if (xml.startsWith("<!--", open)) at = endOf(xml, "-->", open);
    else if (xml.startsWith("<?", open)) at = endOf(xml, "?>", open);
    else if (xml.startsWith("<!", open)) at = endOfDeclaration(xml, open);
    else {
      const end = endOfTag(xml, open);
      if (end === undefined) return;
      const token = toTag(xml.slice(open + 1, end - 1));
      if (token) yield token;
      at = end;
    }
  }
}

const endOf = (xml: string, mark: string, from: number): number => {
  const at = xml.indexOf(mark, from);
  return at < 0 ? xml.length + mark.length : at + mark.length;
};

/** A document type may hold declarations in brackets, with `>` in them. */
function endOfDeclaration(xml: string, from: number): number {
  const bracket = xml.indexOf("[", from);
  const end = endOf(xml, ">", from);
  return bracket >= 0 && bracket < end ? endOf(xml, ">", endOf(xml, "]", bracket)) : end;
}

/** `>` may stand in the value of an attribute. Undefined for a tag that is cut off. */
function endOfTag(xml: string, from: number): number | undefined {
  for (let at = from + 1; at < xml.length; at++) {
    const char = xml[at];
    if (char === ">") return at + 1;
    if (char !== '"' && char !== "'") continue;
    const quote = xml.indexOf(char, at + 1);
    if (quote < 0) break;
    at = quote;
  }
  return undefined;
}

function toTag(inner: string): XmlToken | undefined {
  const [, slash, name = ""] = /^(\/?)([\w:.-]+)/.exec(inner) ?? [];
  if (name === "") return undefined;
  if (slash) return { kind: "close", name };
  const attributes = new Map<string, string>();
  for (const [, key = "", double, single = ""] of inner.matchAll(/\s([\w:.-]+)=(?:"([^"]*)"|'([^']*)')/g))
    attributes.set(key, decodeEntities(double ?? single));
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
