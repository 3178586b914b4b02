import type { TermCutter } from "../text/terms.ts";

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
export function createSynonyms(cutTerms: TermCutter): ReadonlyMap<string, readonly string[]> {
  const synonyms = new Map<string, string[]>();
  for (const group of GROUPS.split(",")) {
    const terms = cutTerms(group);
    for (const term of terms)
      synonyms.set(term, [...(synonyms.get(term) ?? []), ...terms.filter((other) => other !== term)]);
  }
  return synonyms;
}
