import { BOILERPLATE, LAID_OUT } from "./elements.ts";
import { type HtmlElement, isHidden, readHtml } from "./html-events.ts";

/** The facts about a page that rendering needs in advance. */
export interface Survey {
  readonly title: string;
  /** The page's own base URL for links. */
  readonly base: string | undefined;
  /** The element with the main content; undefined when none stands out. */
  readonly main: number | undefined;
  /** Tables used for layout, not for data. */
  readonly layoutTables: ReadonlySet<number>;
}

/** A main part with less text is a mistake or an empty shell. */
const MIN_MAIN_CHARS = 140;

interface Candidate {
  readonly index: number;
  readonly rank: number;
  chars: number;
}

export function surveyPage(html: string): Survey {
  const candidates: Candidate[] = [];
  const openCandidates: Candidate[] = [];
  const tables: { index: number; columns: number; rowCells: number; isLayout: boolean }[] = [];
  const layoutTables = new Set<number>();
  let title: string | undefined;
  let titleIndex = -1;
  let base: string | undefined;
  let hiddenIndex = -1;
  let asideDepth = 0;

  const countTable = ({ name, index }: HtmlElement) => {
    const table = tables.at(-1);
    if (name === "table") {
      if (table) table.isLayout = true;
      tables.push({ index, columns: 0, rowCells: 0, isLayout: false });
    }
    if (!table) return;
    if (name === "tr") table.rowCells = 0;
    if (name === "td" || name === "th") table.columns = Math.max(table.columns, ++table.rowCells);
    if (LAID_OUT.has(name)) table.isLayout = true;
  };

  readHtml(html, {
    open(element) {
      const { name, attributes, index } = element;
      if (name === "title" && title === undefined) {
        title = "";
        titleIndex = index;
      }
      if (name === "base" && base === undefined) base = attributes["href"];
      if (hiddenIndex >= 0) return;
      if (isHidden(element)) {
        hiddenIndex = index;
        return;
      }
      if (BOILERPLATE.has(name)) asideDepth++;
      countTable(element);
      const rank = rankOf(element);
      if (rank === undefined || asideDepth > 0) return;
      const candidate = { index, rank, chars: 0 };
      candidates.push(candidate);
      if (openCandidates.length < MAX_NESTED) openCandidates.push(candidate);
    },
    text(text) {
      if (titleIndex >= 0 && title !== undefined) title += text;
      if (hiddenIndex >= 0 || asideDepth > 0) return;
      const chars = text.trim().length;
      for (const candidate of openCandidates) candidate.chars += chars;
    },
    close({ name, index }) {
      if (index === titleIndex) titleIndex = -1;
      if (hiddenIndex >= 0) {
        if (index === hiddenIndex) hiddenIndex = -1;
        return;
      }
      if (BOILERPLATE.has(name)) asideDepth--;
      if (openCandidates.at(-1)?.index === index) openCandidates.pop();
      if (name !== "table") return;
      const table = tables.pop();
      if (table && (table.isLayout || table.columns < 2)) layoutTables.add(table.index);
    },
  });
  return { title: title ?? "", base, main: chooseMain(candidates), layoutTables };
}

/** The maximum depth of nested candidates. */
const MAX_NESTED = 8;

function rankOf({ name, attributes }: HtmlElement): number | undefined {
  if (name === "main" || attributes["role"] === "main") return 0;
  if (name === "article" || attributes["role"] === "article" || attributes["itemprop"] === "articleBody")
    return 1;
  return undefined;
}

/** The first `main`; otherwise the only article, or the one with most of the articles' text. */
function chooseMain(candidates: readonly Candidate[]): number | undefined {
  const rich = candidates.filter(({ chars }) => chars >= MIN_MAIN_CHARS);
  const main = rich.find(({ rank }) => rank === 0);
  if (main) return main.index;
  const all = rich.reduce((sum, { chars }) => sum + chars, 0);
  return rich.find(({ chars }) => chars * 2 > all)?.index;
}
