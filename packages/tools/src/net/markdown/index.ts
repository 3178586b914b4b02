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
 * What a page says, as Markdown: its main part where one can be told, else all of it. Nothing that a reader would not
 * see is in it, and nothing that the page says can pass for structure. The same page gives the same text.
 */
export function toMarkdown(html: string, pageUrl: string): MarkdownPage {
  const survey = surveyPage(html);
  const markdown = renderPage(html, survey, createLinks(pageUrl, survey.base));
  const title = collapseSpace(withoutInvisible(survey.title)).trim().slice(0, MAX_TITLE_CHARS);
  return { markdown, title };
}
