/** All symbol names in memory, for fast partial matches. */
export interface SymbolNames {
  add(name: string): void;
  /**
   * Matching names, closest first: equal except for case, then prefixes, then matches at the start of a word,
   * then matches anywhere, then names with these letters in this order.
   */
  matching(part: string): Generator<string>;
}

export function createSymbolNames(): SymbolNames {
  const names: string[] = [];
  const lower: string[] = [];
  const letters: number[] = [];
  const known = new Set<string>();

  return {
    add(name) {
      if (known.has(name)) return;
      known.add(name);
      names.push(name);
      const small = name.toLowerCase();
      lower.push(small);
      letters.push(lettersOf(small));
    },
    *matching(part) {
      const wanted = part.toLowerCase();
      if (wanted === "") return;
      const needed = lettersOf(wanted);
      const levels: string[][] = LEVELS.map(() => []);
      const loose: string[] = [];
      for (let at = 0; at < names.length; at++) {
        if (((letters[at] ?? 0) & needed) !== needed) continue;
        const [name = "", small = ""] = [names[at], lower[at]];
        const place = small.indexOf(wanted);
        if (place < 0) loose.push(name);
        else levels[LEVELS.findIndex((fits) => fits(name, place, small.length - wanted.length))]?.push(name);
      }
      for (const level of levels) yield* level.sort(shortestFirst);
      yield* loose.filter((name) => hasInOrder(name.toLowerCase(), wanted)).sort(shortestFirst);
    },
  };
}

const LEVELS: readonly ((name: string, place: number, more: number) => boolean)[] = [
  (_name, _place, more) => more === 0,
  (_name, place) => place === 0,
  (name, place) => /[^a-zA-Z][a-zA-Z]|[a-z][A-Z]/.test(name.slice(place - 1, place + 1)),
  () => true,
];

/** One bit per letter that occurs, so that one comparison rules out most names. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) - FIRST_LETTER;
    bits |= 1 << (code >= 0 && code < ALPHABET ? code : OTHER_SIGN);
  }
  return bits;
}

const FIRST_LETTER = "a".charCodeAt(0);
const ALPHABET = 26;
const OTHER_SIGN = 26;

function hasInOrder(text: string, wanted: string): boolean {
  let at = -1;
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

const shortestFirst = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
