/**
 * Globs in the syntax of gitignore files and `rg --glob`. Matching takes time bounded by the lengths of pattern and
 * path: patterns are untrusted, and a regular expression could run for hours.
 *
 * Names and patterns are byte strings (one character per byte), because file names are bytes; `?` is one byte.
 */
export interface Glob {
  /** Whether the path, given as names of which the first `from` do not count, matches as a whole. */
  matches(names: readonly string[], from: number): boolean;
  /** Whether something below this folder could match. */
  reachesBelow(names: readonly string[], from: number): boolean;
}

type Token = string | typeof ANY | typeof STAR | ByteClass;
interface ByteClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [first: string, last: string])[];
}
type Segment = typeof ANY_DEPTH | ((name: string) => boolean);

const ANY = Symbol("?");
const STAR = Symbol("*");
const ANY_DEPTH = Symbol("**");
const MAX_ALTERNATIVES = 256;

export interface GlobOptions {
  /** `{,a}` may be nothing, as in a shell; ripgrep leaves the empty alternative out. */
  readonly emptyAlternatives?: boolean;
}

/** A glob, or the reason why the pattern is invalid. `{a,b}` is expanded here, so matching does not deal with it. */
export function parseGlob(pattern: string, options: GlobOptions = {}): Glob | { readonly error: string } {
  const parsed = parseTokens(pattern, options);
  if ("error" in parsed) return parsed;
  const alternatives = parsed.sequences.map(toSegments);
  return {
    matches: (names, from) => alternatives.some((segments) => matchSegments(segments, names, from)),
    reachesBelow: (names, from) => alternatives.some((segments) => leadsOn(segments, names, from)),
  };
}

/**
 * A test of whole texts for a glob as people write it in settings: names are between slashes, and a bracket or brace
 * without its partner is literal. Undefined when the glob cannot be evaluated, such as one with too many alternatives.
 */
export function parseTextGlob(pattern: string): ((text: string) => boolean) | undefined {
  const glob = parseGlob(escapeUnpaired(pattern), { emptyAlternatives: true });
  return "error" in glob ? undefined : (text) => glob.matches(text.split("/"), 0);
}

function escapeUnpaired(pattern: string): string {
  const chars = pattern.split("");
  const open: number[] = [];
  const lastClosing = pattern.lastIndexOf("]");
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at];
    if (char === "\\") {
      if (++at === chars.length) chars[at - 1] = "\\\\";
    } else if (char === "[") {
      const end = at + 2 <= lastClosing ? pattern.indexOf("]", at + 2) : -1;
      if (end < 0) chars[at] = "\\[";
      else at = end;
    } else if (char === "{") open.push(at);
    else if (char === "}" && open.pop() === undefined) chars[at] = "\\}";
  }
  for (const at of open) chars[at] = "\\{";
  return chars.join("");
}

/** A part of a wildcard pattern: one character, or any number of those that fit. */
export type Wildcard =
  | { readonly one: (char: string) => boolean }
  | { readonly many: (char: string) => boolean };

/** Whether the parts match the whole text, in time bounded by the product of their lengths. */
export function matchWildcards(parts: readonly Wildcard[], text: string): boolean {
  /** For each part, whether the text so far matches everything before it. */
  let states = new Uint8Array(parts.length + 1);
  states[0] = 1;
  skipMany(parts, states);
  for (const char of text) {
    const next = new Uint8Array(parts.length + 1);
    for (const [at, part] of parts.entries()) {
      if (!states[at]) continue;
      if ("one" in part && part.one(char)) next[at + 1] = 1;
      if ("many" in part && part.many(char)) next[at] = 1;
    }
    skipMany(parts, next);
    states = next;
  }
  return states[parts.length] === 1;
}

function skipMany(parts: readonly Wildcard[], states: Uint8Array): void {
  for (const [at, part] of parts.entries()) if (states[at] && "many" in part) states[at + 1] = 1;
}

function matchSegments(segments: readonly Segment[], names: readonly string[], from: number): boolean {
  const last = segments[1];
  if (segments.length === 2 && segments[0] === ANY_DEPTH && typeof last === "function")
    return names.length > from && last(names[names.length - 1] as string);
  const fits = (segment: Segment, name: string) => typeof segment === "function" && segment(name);
  return matchAll(segments, ANY_DEPTH, names, from, fits);
}

/** `**` among names works like `*` within a name: only the last one seen needs backtracking. */
function matchAll<P, T>(
  pattern: readonly P[],
  wildcard: P,
  items: ArrayLike<T>,
  from: number,
  fits: (part: P, item: T) => boolean,
): boolean {
  let part = 0;
  let at = from;
  let retryPart = -1;
  let retryAt = from;
  while (at < items.length) {
    const current = pattern[part];
    if (current === wildcard) {
      retryPart = ++part;
      retryAt = at;
    } else if (current !== undefined && fits(current, items[at] as T)) {
      part++;
      at++;
    } else if (retryPart >= 0) {
      part = retryPart;
      at = ++retryAt;
    } else return false;
  }
  while (pattern[part] === wildcard) part++;
  return part === pattern.length;
}

function leadsOn(segments: readonly Segment[], names: readonly string[], from: number): boolean {
  for (let i = 0; i < names.length - from; i++) {
    const segment = segments[i];
    if (segment === ANY_DEPTH) return true;
    if (!segment?.(names[from + i] as string)) return false;
  }
  return segments.length > names.length - from;
}

function toSegments(tokens: readonly Token[]): Segment[] {
  const segments: Token[][] = [[]];
  for (const token of tokens) {
    if (token === "/") segments.push([]);
    else segments.at(-1)?.push(token);
  }
  return segments.map(toSegment);
}

function toSegment(tokens: readonly Token[]): Segment {
  if (tokens.length === 2 && tokens.every((token) => token === STAR)) return ANY_DEPTH;
  const [first, ...rest] = tokens;
  if (tokens.every(isLiteral)) {
    const literal = tokens.join("");
    return (name) => name === literal;
  }
  if (first === STAR && rest.every(isLiteral)) {
    const suffix = rest.join("");
    return (name) => name.endsWith(suffix);
  }
  return (name) => matchAll<Token, string>(tokens, STAR, name, 0, matchByte);
}

const isLiteral = (token: Token): token is string => typeof token === "string";

function matchByte(token: Token, byte: string): boolean {
  if (typeof token === "symbol") return token === ANY;
  if (typeof token === "string") return token === byte;
  return token.ranges.some(([first, last]) => first <= byte && byte <= last) !== token.negated;
}

type Parsed = { readonly sequences: Token[][] } | { readonly error: string };

function parseTokens(pattern: string, { emptyAlternatives = false }: GlobOptions): Parsed {
  let at = 0;

  const parseSequence = (depth: number): Parsed => {
    let sequences: Token[][] = [[]];
    while (at < pattern.length) {
      const char = pattern[at] as string;
      if (depth > 0 && (char === "," || char === "}")) break;
      at++;
      if (char === "}") return { error: "} without {" };
      if (char === "{") {
        const group = parseGroup(depth + 1);
        if ("error" in group) return group;
        if (sequences.length * group.sequences.length > MAX_ALTERNATIVES) return TOO_MANY;
        sequences = sequences.flatMap((head) => group.sequences.map((tail) => [...head, ...tail]));
        continue;
      }
      const token = char === "[" ? parseClass() : char === "\\" ? pattern[at++] : charToken(char);
      if (token === undefined) return { error: char === "[" ? "[ without ]" : "nothing after \\" };
      for (const sequence of sequences) sequence.push(token);
    }
    return { sequences };
  };

  const parseGroup = (depth: number): Parsed => {
    if (depth > MAX_DEPTH) return { error: "{ is nested too deeply" };
    const alternatives: Token[][] = [];
    for (;;) {
      const one = parseSequence(depth);
      if ("error" in one) return one;
      alternatives.push(...one.sequences.filter((sequence) => emptyAlternatives || sequence.length > 0));
      if (alternatives.length > MAX_ALTERNATIVES) return TOO_MANY;
      const char = pattern[at++];
      if (char === undefined) return { error: "{ without }" };
      if (char === "}") return { sequences: alternatives.length > 0 ? alternatives : [[]] };
    }
  };

  const parseClass = (): ByteClass | undefined => {
    const negated = pattern[at] === "!" || pattern[at] === "^";
    if (negated) at++;
    const ranges: [string, string][] = [];
    for (let isFirst = true; ; isFirst = false) {
      const char = pattern[at++];
      if (char === undefined) return undefined;
      if (char === "]" && !isFirst) return { negated, ranges };
      const last = pattern[at + 1];
      if (pattern[at] !== "-" || last === undefined || last === "]") {
        ranges.push([char, char]);
        continue;
      }
      if (last < char) return undefined;
      ranges.push([char, last]);
      at += 2;
    }
  };

  return parseSequence(0);
}

const MAX_DEPTH = 16;
const TOO_MANY = { error: `more than ${MAX_ALTERNATIVES} alternatives in {…}` };

const charToken = (char: string): Token => (char === "*" ? STAR : char === "?" ? ANY : char);
