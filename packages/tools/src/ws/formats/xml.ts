/**
 * The few values that we need from a pom.xml or a .csproj, found by their tags without a parser: tools write such
 * files, and a missed name does no harm. Nothing is expanded, so entities are harmless.
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

/** Removes each `<tag>…</tag>` with its contents. */
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

/** The ranges from each `open` to the next `close`. */
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
