import type { TermCutter } from "../text/terms.ts";

/** A query term and its weight. */
export interface AskedTerm {
  readonly term: string;
  readonly weight: number;
}

/** Words without meaning for code. `is`, `to`, `from` and `into` are kept: names begin with them. */
const STOP_WORDS = new Set(
  "a an the of in are be by for on with that this it its as at or and if not was were will has have had can may which when where who whom what how given than then there their them they we you your our such used use using also any all each only other so do does done no".split(
    " ",
  ),
);
// Both weights were tuned on the dev split of `npm run eval`.
const SYNONYM_WEIGHT = 0.2;
/** For two neighbours joined into one word: `add slashes` also means `addslashes`. */
const JOINED_WEIGHT = 0.7;

/** Turns a question into unique search terms. Stop words count only when there is nothing else. */
export function createQuestionTerms(cutTerms: TermCutter): (question: string) => AskedTerm[] {
  const synonyms = createSynonyms(cutTerms);
  return (question) => {
    const words = question.match(/[\p{L}\p{N}_$]+/gu) ?? [];
    const significant = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
    const terms = cutTerms((significant.length > 0 ? significant : words).join(" "));
    const weights = new Map(terms.map((term) => [term, 1]));
    const addOther = (term: string, weight: number) => {
      if (!weights.has(term)) weights.set(term, weight);
    };
    for (const term of new Set(terms))
      for (const other of synonyms.get(term) ?? []) addOther(other, SYNONYM_WEIGHT);
    for (const [at, term] of terms.slice(1).entries()) addOther(`${terms[at]}${term}`, JOINED_WEIGHT);
    return [...weights].map(([term, weight]) => ({ term, weight }));
  };
}

/** Synonyms in code: abbreviations and their long forms, and verbs with the same meaning. */
const GROUPS = `
  env environment, recv receive, msg message, cfg conf config configuration, has contains include,
  new create make, del delete remove, str string, num number, arg argument, param parameter,
  dir directory folder, len length size, db database, req request, resp response, err error exception fail,
  ctx context, tmp temp temporary, idx index, func fn function, val value, prev previous, cur current,
  attr attribute, prop property, ref reference, repo repository, pkg package, obj object, cmd command,
  doc document, max maximum, min minimum, get return fetch obtain, set assign, init initialize setup,
  auth authentication authenticate, addr address, buf buffer, char character, conn connection, cb callback,
  expr expression, fmt format, ident identifier, iter iterate iterator, lib library, mem memory, opt option,
  pos position, ptr pointer, sep separator, src source, dest dst destination, sync synchronize, util utility,
  ver version, win window, is check whether, parse read decode, write encode serialize, start begin,
  stop end finish, show display print
`;

/** The synonyms of each term. */
function createSynonyms(cutTerms: TermCutter): ReadonlyMap<string, readonly string[]> {
  const synonyms = new Map<string, string[]>();
  for (const group of GROUPS.split(",")) {
    const terms = cutTerms(group);
    for (const term of terms)
      synonyms.set(term, [...(synonyms.get(term) ?? []), ...terms.filter((other) => other !== term)]);
  }
  return synonyms;
}
