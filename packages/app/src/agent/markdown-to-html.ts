import { escapeHtml } from "@octant/agent";
import { Marked, type Tokens } from "marked";

/**
 * Markdown as HTML that can do nothing: tags in it are shown as text, only web and mail addresses become links, and
 * pictures are not loaded.
 */
export function markdownToHtml(markdown: string): string {
  const marked = new Marked({
    async: false,
    // As the console shows it.
    breaks: true,
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        return isLink(href) ? `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>` : text;
      },
      image: ({ href, text }: Tokens.Image) => escapeHtml(`[${text || "image"}: ${href}]`),
    },
  });
  // Not asynchronous, so it is a text.
  return marked.parse(markdown) as string;
}

const isLink = (href: string): boolean =>
  URL.canParse(href) && /^(https?|mailto):$/.test(new URL(href).protocol);
