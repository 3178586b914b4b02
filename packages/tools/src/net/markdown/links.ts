const MAX_HREF_CHARS = 2_048;
const LINKED = new Set(["http:", "https:", "mailto:"]);

export type ToHref = (href: string | undefined) => string | undefined;

/** Makes links absolute, without credentials and safe inside a Markdown link; undefined for other schemes. */
export function createLinks(pageUrl: string, base: string | undefined): ToHref {
  const stated = base === undefined ? null : URL.parse(base, pageUrl);
  const from = stated && LINKED.has(stated.protocol) ? stated.href : pageUrl;
  return (href) => {
    if (href === undefined || href.length > MAX_HREF_CHARS) return undefined;
    const url = URL.parse(href.trim(), from);
    if (!url || !LINKED.has(url.protocol)) return undefined;
    if (url.protocol !== "mailto:") {
      url.username = "";
      url.password = "";
    }
    return url.href.replace(/[()<>\\\s[\]|]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  };
}
