const set = (...names: string[]): ReadonlySet<string> => new Set(names.flatMap((line) => line.split(" ")));

/** Elements without an end tag. */
export const VOID = set("area base br col embed hr img input link meta param source track wbr");

/** Block elements, which start on a new line. */
export const BLOCKS = set(
  "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure",
  "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section",
  "summary table tbody td tfoot th thead tr ul",
);

/** Elements that are invisible or useless as text. */
export const UNSHOWN = set(
  "applet audio button canvas datalist embed frame frameset head iframe input link map math meta noembed noframes",
  "noscript object param script select style svg template textarea title track video",
);

/** Elements that never occur in a cell of a data table. */
export const LAID_OUT = set("h1 h2 h3 h4 h5 h6 pre article section main form");

/** Parts of a page outside of its main content. */
export const BOILERPLATE = set("aside footer nav");

const NONE = set();
const TABLE = set("table template");
const P_SCOPE: ReadonlySet<string> = new Set([...BLOCKS].filter((name) => name !== "p"));

/** Which open elements another element closes, and how far up the search goes. */
export function impliedEnd(name: string): { ends: ReadonlySet<string>; scope: ReadonlySet<string> } {
  return IMPLIED.get(name) ?? (BLOCKS.has(name) ? P_ENDS : NOTHING_ENDS);
}

const NOTHING_ENDS = { ends: NONE, scope: NONE };
const P_ENDS = { ends: set("p"), scope: P_SCOPE };

const IMPLIED = new Map([
  ["li", { ends: set("li"), scope: set("ul ol menu dir table") }],
  ["dt", { ends: set("dt dd"), scope: set("dl table") }],
  ["dd", { ends: set("dt dd"), scope: set("dl table") }],
  ["tr", { ends: set("tr caption"), scope: TABLE }],
  ["td", { ends: set("td th"), scope: set("tr table") }],
  ["th", { ends: set("td th"), scope: set("tr table") }],
  ["thead", { ends: set("thead tbody tfoot caption"), scope: TABLE }],
  ["tbody", { ends: set("thead tbody tfoot caption"), scope: TABLE }],
  ["tfoot", { ends: set("thead tbody tfoot caption"), scope: TABLE }],
  ["a", { ends: set("a"), scope: BLOCKS }],
]);

/** The boundary of an end tag: one in a cell does not close elements outside the table. */
export const scopeOf = (name: string): ReadonlySet<string> => SCOPES.get(name) ?? OTHER_SCOPE;

const OTHER_SCOPE = set("td th caption table");
const SCOPES = new Map<string, ReadonlySet<string>>([
  ...["table", "body", "html"].map((name) => [name, NONE] as const),
  ...["tr", "td", "th", "thead", "tbody", "tfoot", "caption"].map((name) => [name, TABLE] as const),
  ["li", set("ul ol menu dir table")],
]);
