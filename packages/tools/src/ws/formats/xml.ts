/**
 * The few things that we ask of a pom.xml or a .csproj, found by their tags and without a parser: such files are
 * written by tools, and a name that we miss is no harm. Nothing is expanded, so entities cannot hurt.
 */

const MAX_FOUND = 1_000;

/** The text of each `<tag>…</tag>`. */
export const elementTexts = (xml: string, tag: string): string[] =>
  spans(xml, `<${tag}>`, `</${tag}>`).map(([start, end]) =>
    xml.slice(start + tag.length + 2, end - tag.length - 3).trim(),
  );

/** The value of an attribute of each `<tag …>`. */
export const attributeValues = (xml: string, tag: string, attribute: string): string[] =>
  spans(xml, `<${tag}`, ">").flatMap(([start, end]) => {
    const attributes = xml.slice(start + 1 + tag.length, end);
    const [, value] = new RegExp(`^\\s(?:[\\s\\S]*\\s)?${attribute}="([^"]*)"`).exec(attributes) ?? [];
    return value ? [value] : [];
  });

/** Leaves out each `<tag>…</tag>` with all that is in it. */
export const withoutElements = (xml: string, tag: string): string => without(xml, `<${tag}>`, `</${tag}>`);

export const withoutComments = (xml: string): string => without(xml, "<!--", "-->");

function without(xml: string, open: string, close: string): string {
  let kept = "";
  let from = 0;
  for (const [start, end] of spans(xml, open, close)) {
    kept += xml.slice(from, start);
    from = end;
  }
  return kept + xml.slice(from);
}

/** Where `open` begins and the next `close` ends, again and again. */
function spans(xml: string, open: string, close: string): [number, number][] {
  const found: [number, number][] = [];
  let at = xml.indexOf(open);
  while (at >= 0 && found.length < MAX_FOUND) {
    const end = xml.indexOf(close, at + open.length);
    if (end < 0) break;
    found.push([at, end + close.length]);
    at = xml.indexOf(open, end + close.length);
  }
  return found;
}
