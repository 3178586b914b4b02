import { collapseSpace, withoutInvisible } from "./escape.ts";
import { renderPage, type ToHref } from "./render.ts";
import { surveyPage } from "./survey.ts";

export interface MarkdownPage {
  readonly markdown: string;
  readonly title: string;
}

const MAX_TITLE_CHARS = 300;

/**
 * Converts a page to Markdown: its main part if there is one, otherwise all of it. The result contains only visible
 * text, and page text cannot pass for Markdown structure. Deterministic.
 */
export function toMarkdown(html: string, pageUrl: string): MarkdownPage {
  const survey = surveyPage(html);
  const markdown = renderPage(html, survey, createLinks(pageUrl, survey.base));
  const title = collapseSpace(withoutInvisible(survey.title)).trim().slice(0, MAX_TITLE_CHARS);
  return { markdown, title };
}

const MAX_HREF_CHARS = 2_048;
const LINKED = new Set(["http:", "https:", "mailto:"]);

/** Makes links absolute, without credentials and safe inside a Markdown link; undefined for other schemes. */
function createLinks(pageUrl: string, base: string | undefined): ToHref {
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
