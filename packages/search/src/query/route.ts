import type { SymbolKind } from "../syntax/language.ts";
import { languageOf } from "../syntax/languages/index.ts";
import type { Hit, Strategy } from "./hit.ts";
import { lastPart, ownName } from "./symbol-path.ts";

/** The kind of a question, as far as its form shows it. */
export type Route =
  | { readonly asks: "definition"; readonly name: string; readonly kinds?: readonly SymbolKind[] }
  | { readonly asks: "callers" | "subtypes" | "symbol"; readonly name: string }
  | { readonly asks: "file"; readonly pattern: string }
  | { readonly asks: "literal" | "code" | "meaning"; readonly text: string };

/** A ! belongs to the name; so does a ? in front of more text, because at the end it may belong to the question. */
const NAME = String.raw`[\x60'"]?([\p{L}_$][\p{L}\p{N}_$.:#-]*?(?:!|\?(?=.))?)(?:\(\))?[\x60'"]?`;
const THING = String.raw`(?:(?:the|a|function|method|class|type|symbol|interface|struct|variable|constant|macro)\s+)*`;

const DEFINITION = [
  new RegExp(
    `^where(?:'s| is| are)\\s+${THING}${NAME}\\s+(?:defined|declared|implemented|definition)\\??$`,
    "iu",
  ),
  new RegExp(
    `^(?:find |show |go to |the )*(?:definition|declaration|implementation) of\\s+${THING}${NAME}\\??$`,
    "iu",
  ),
];
/** Everyday words for kinds of symbols. */
const KINDS: Readonly<Record<string, readonly SymbolKind[]>> = {
  class: ["class", "struct", "interface", "trait", "enum", "type"],
  struct: ["struct", "class", "type"],
  interface: ["interface", "trait", "type", "class"],
  trait: ["trait", "interface"],
  enum: ["enum"],
  type: ["type", "class", "struct", "interface", "trait", "enum"],
  function: ["function", "method", "constructor"],
  func: ["function", "method"],
  fn: ["function", "method"],
  def: ["function", "method"],
  method: ["method", "function", "constructor"],
  macro: ["macro"],
  module: ["module"],
  constant: ["constant", "variable", "field"],
  variable: ["variable", "constant", "field"],
};
const KIND_AND_NAME = new RegExp(`^(?:the )?(${Object.keys(KINDS).join("|")})\\s+${NAME}$`, "u");
const CALLERS = [
  new RegExp(
    `^(?:who|what|which \\w+)\\s+(?:calls?|uses?|invokes?|references?|depends? on)\\s+${THING}${NAME}\\??$`,
    "iu",
  ),
  new RegExp(
    `^(?:find |show |all |the )*(?:callers|calls|usages?|uses|references)\\s+(?:of|to)\\s+${THING}${NAME}\\??$`,
    "iu",
  ),
  new RegExp(`^where(?:'s| is| are)\\s+${THING}${NAME}\\s+(?:called|used|invoked|referenced)\\??$`, "iu"),
];
const SUBTYPES = [
  new RegExp(
    `^(?:who|what|which \\w+|(?:the |all |find |show |list )*(?:classes|types|structs))\\s+(?:that\\s+)?(?:implements?|extends?|inherits?(?: from)?|subclass(?:es)?)\\s+${THING}${NAME}\\??$`,
    "iu",
  ),
  new RegExp(
    `^(?:find |show |list |all |the )*(?:implementations|implementers|implementors|subclasses|subtypes)\\s+of\\s+${THING}${NAME}\\??$`,
    "iu",
  ),
];
const IDENTIFIER = /^[\p{L}_$#@][\p{L}\p{N}_$]*(?:(?:\.|::|#|->)[\p{L}_$][\p{L}\p{N}_$]*)*[!?]?$/u;
/** A query in quotes asks for literal matches. */
const QUOTED = /^(["'])((?:(?!\1).)+)\1$/;
const PATH = /^\S*[/*]\S*$/;
/** Extensions of files that are not code. */
const OTHER_FILES =
  /^\S+\.(?:md|txt|toml|lock|xml|svg|png|jpe?g|gif|pdf|csv|sql|proto|gradle|ini|cfg|env|log)$/i;
const KEYWORD = "class|fn|def|func|function|interface|struct|impl|trait|enum|type|import|async|const|let|var";
/** A keyword followed by code: `class Foo`, `def f(`; but not `class for handling …`. */
const DECLARATION = new RegExp(
  `^(?:${KEYWORD})\\s+[\\w$]+(?:$|\\s*[({<:=]|\\s+(?:${KEYWORD}|extends|implements)\\b)`,
);
const METAVARIABLE = /(?<![\w$])\$(?:\$\$)?[A-Z_]/;
const SIGNS = /[{}();=<>[\]]/;
/** Several words separated only by spaces: a sentence, even with symbols in it. */
const SENTENCE = /\p{L}+(?:,? \p{L}+){3}/u;

/** Whether a text reads as prose; only a shell grammar would parse it. */
export const isProse = (text: string): boolean =>
  SENTENCE.test(text) && !METAVARIABLE.test(text) && !SIGNS.test(text);

const isCode = (text: string) =>
  METAVARIABLE.test(text) || DECLARATION.test(text) || (SIGNS.test(text) && !SENTENCE.test(text));

/**
 * A question of a known form goes to the search that can answer it; any other is compared by words and
 * meaning.
 */
export function routeOf(query: string): Route {
  const text = query.trim().replace(/^`([^`]+)`$/, "$1");
  const definition = nameIn(text, DEFINITION);
  if (definition) return { asks: "definition", name: definition };
  const [, kind = "", called] = KIND_AND_NAME.exec(text) ?? [];
  if (called) return { asks: "definition", name: called, kinds: KINDS[kind] };
  const callers = nameIn(text, CALLERS);
  if (callers) return { asks: "callers", name: callers };
  const supertype = nameIn(text, SUBTYPES);
  if (supertype) return { asks: "subtypes", name: supertype };
  const quoted = QUOTED.exec(text)?.[2];
  if (quoted) return { asks: "literal", text: quoted };
  if (isFile(text) && !isCode(text)) return { asks: "file", pattern: text };
  if (IDENTIFIER.test(text)) return { asks: "symbol", name: text };
  if (isCode(text)) return { asks: "code", text };
  return { asks: "meaning", text };
}

const isFile = (text: string) =>
  PATH.test(text) || OTHER_FILES.test(text) || (/^\S+$/.test(text) && languageOf(text) !== undefined);

function nameIn(text: string, forms: readonly RegExp[]): string | undefined {
  for (const form of forms) {
    const name = form.exec(text)?.[1];
    if (name) return name;
  }
  return undefined;
}

/**
 * States an assumption of the question that does not hold; the hits are then only the closest matches. A name that is
 * written somewhere may be defined there, in a file or a form that the parsers do not know.
 */
export function unmetBy(
  route: Route,
  hits: readonly Pick<Hit, "symbol" | "why">[],
  writtenIn?: string,
): string | undefined {
  if (hits.length === 0 || !("name" in route)) return undefined;
  const own = lastPart(route.name).toLowerCase();
  const unnamed =
    writtenIn === undefined
      ? `nothing here is named '${route.name}'`
      : `no definition of '${route.name}' could be parsed, but ${writtenIn} has the name`;
  const isFoundBy = (...strategies: Strategy[]) =>
    hits.some(({ why }) => why.some(({ strategy }) => strategies.includes(strategy)));
  const isNamed = hits.some(({ symbol }) => ownName(symbol).toLowerCase() === own);
  const verb = { callers: "calls or uses", subtypes: "extends or implements" }[String(route.asks)];
  if (verb && !isFoundBy("callers", "subtypes")) return isNamed ? `nothing ${verb} '${route.name}'` : unnamed;
  if (isNamed || isFoundBy("callers", "subtypes", "literal")) return undefined;
  return unnamed;
}
