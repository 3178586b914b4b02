/** The traits of a chunk, one bit each. */
const NOT_CALLABLE = 1;
const SHORT = 2;
const TEST = 4;
const BESIDE_CODE = 8;
const ALL = NOT_CALLABLE | SHORT | TEST | BESIDE_CODE;

/** The factor each trait applies to a chunk's score. Tuned on the dev split of `npm run eval`. */
const FACTORS: Readonly<Record<number, number>> = {
  [NOT_CALLABLE]: 0.8,
  [SHORT]: 0.9,
  [TEST]: 0.5,
  [BESIDE_CODE]: 0.8,
};

const CALLABLE = new Set(["function", "method", "constructor", "macro"]);
const TEST_PATH =
  /(?:^|\/)(?:tests?|__tests__|testing|specs?|testdata|(?:test)?fixtures?|__mocks__|mocks?|e2e|integration-tests?)\/|[._-](?:test|tests|spec)\.[a-z]+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$|Tests?\.(?:java|cs|kt)$|(?:^|[/_.-])(?:test|testing)[_-](?:utils?|helpers?)\.[a-z]+$/i;
/** Tests next to the code they test, as in Rust. */
const TEST_SYMBOL = /^(?:tests?\.|test_)|\.(?:tests?\.|test_)/;
const BESIDE_CODE_PATH =
  /(?:^|\/)(?:docs?|examples?|samples?|demos?|bench|benchmarks?|vendor|third_party)\/|\.(?:md|mdx|rst|txt|adoc|html?|json|ya?ml|toml|css|xml|lock|svg|csv)$/i;

export interface Described {
  readonly path: string;
  /** Outer.inner; empty for lines. */
  readonly symbol: string;
  readonly kind: string;
  readonly lines: number;
}

export function traitsOf({ path, symbol, kind, lines }: Described): number {
  return (
    (CALLABLE.has(kind) ? 0 : NOT_CALLABLE) |
    // A declaration, or a definition with nothing beyond its name.
    (lines <= 1 ? SHORT : 0) |
    (TEST_PATH.test(path) || TEST_SYMBOL.test(symbol) ? TEST : 0) |
    (BESIDE_CODE_PATH.test(path) ? BESIDE_CODE : 0)
  );
}

export const isTest = (traits: number): boolean => (traits & TEST) !== 0;

/** 0 for the project's own code, 1 for its tests, 2 for documentation, data and vendored code. */
export function distanceFromCode(path: string, symbol = ""): 0 | 1 | 2 {
  if (BESIDE_CODE_PATH.test(path)) return 2;
  return TEST_PATH.test(path) || TEST_SYMBOL.test(symbol) ? 1 : 0;
}

/** A trait that the question mentions is not penalised. */
const SPOKEN_OF: readonly (readonly [number, RegExp])[] = [
  [
    NOT_CALLABLE,
    /\b(?:class|type|struct|interface|enum|trait|constant|variable|module|heading|section)s?\b/i,
  ],
  // Only a question that asks for tests: in a test framework, every other question mentions them.
  [
    TEST,
    /\b(?:tests?|specs?)\s+(?:for|of|about|covering|that)\b|\b(?:which|what|the|unit|integration|regression|e2e)[ -](?:tests|specs)\b|\b(?:unit|integration|regression|e2e)[ -](?:test|spec)\b|\btested\b|\s(?:tests|specs)$/i,
  ],
  [
    BESIDE_CODE,
    /\b(?:docs?|documentation|readme|guide|examples?|samples?|config|configuration|settings?|benchmarks?)\b/i,
  ],
];

/** The score factor for each combination of traits. */
export function traitFactors(question: string): Float64Array {
  const ignored = SPOKEN_OF.filter(([, words]) => words.test(question)).map(([trait]) => trait);
  return Float64Array.from({ length: ALL + 1 }, (_, traits) =>
    Object.entries(FACTORS).reduce(
      (share, [trait, kept]) =>
        traits & Number(trait) && !ignored.includes(Number(trait)) ? share * kept : share,
      1,
    ),
  );
}

/** The score factor of a file for a question, by its path alone. */
export function keptShareOf(question: string): (path: string) => number {
  const shares = traitFactors(question);
  return (path) => shares[traitsOf({ path, symbol: "", kind: "function", lines: 2 })] ?? 1;
}
