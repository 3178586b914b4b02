import { collapseSpace, withoutInvisible } from "./escape.ts";
import { createLinks } from "./links.ts";
import { renderPage } from "./render.ts";
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
