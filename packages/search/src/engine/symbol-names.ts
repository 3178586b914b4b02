export type SymbolNames = ReturnType<typeof createSymbolNames>;

/** All symbol names in memory, for fast partial matches. */
export function createSymbolNames(first: readonly string[]) {
  const known = new Set<string>();
  // Every search reads all of them, and an array is read twice as fast as a Map.
  const names: { readonly name: string; readonly small: string; readonly held: number }[] = [];
  const add = (name: string) => {
    if (known.has(name)) return;
    known.add(name);
    const small = name.toLowerCase();
    names.push({ name, small, held: lettersOf(small) });
  };
  first.forEach(add);

  return {
    add,
    /**
     * Matching names in groups, closest first: equal except for case, then prefixes, then matches at the start of a
     * word, then matches anywhere, then misspelt names, then names with these letters in this order.
     */
    *matching(part: string): Generator<readonly string[]> {
      const wanted = part.toLowerCase();
      if (wanted === "") return;
      const needed = lettersOf(wanted);
      const levels: string[][] = LEVELS.map(() => []);
      const loose: string[] = [];
      const slips = slipsAllowed(wanted);
      const misspelt: string[][] = Array.from({ length: slips }, () => []);
      for (const { name, small, held } of names) {
        if (Math.abs(small.length - wanted.length) <= slips && countBits(held ^ needed) <= 2 * slips) {
          const apart = countSlips(small, wanted, slips);
          if (apart > 0 && apart <= slips && !small.includes(wanted)) {
            misspelt[apart - 1]?.push(name);
            continue;
          }
        }
        if ((held & needed) !== needed) continue;
        const place = small.indexOf(wanted);
        if (place < 0) loose.push(name);
        else levels[LEVELS.findIndex((fits) => fits(name, place, small.length - wanted.length))]?.push(name);
      }
      for (const level of [...levels, ...misspelt]) yield level.sort(shortestFirst);
      yield loose.filter((name) => hasInOrder(name.toLowerCase(), wanted)).sort(shortestFirst);
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

/** Typing errors tolerated; short names are too similar to tolerate any. */
const slipsAllowed = ({ length }: string): number => (length < 5 ? 0 : length < 9 ? 1 : 2);

/** The Damerau-Levenshtein distance of two words, or `max + 1` if it exceeds `max`. */
function countSlips(a: string, b: string, max: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let slips = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        slips = Math.min(slips, (beforeLast[j - 2] ?? 0) + 1);
      row.push(slips);
      least = Math.min(least, slips);
    }
    if (least > max) return max + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

const shortestFirst = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
