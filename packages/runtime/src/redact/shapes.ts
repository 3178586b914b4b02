import type { Span } from "./span.ts";

/**
 * The shapes of secrets. A first group is preserved. Each pattern starts at a fixed text, or at the start of a run of
 * its characters, and nothing can fail after a nested repetition, so that no text is scanned more than a few times.
 */
const SHAPES: readonly RegExp[] = [
  // An unfinished block is secret to its end.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  // With a digit or a padding, so that "Basic authentication" is none.
  /(\b(?:Bearer|Basic)[ \t]{1,4})(?=[\w.~+/=-]{0,100}[\d=])[\w.~+/=-]{8,}/gi,
  /(\b(?:authorization|proxy-authorization|x-api-key|cookie|set-cookie):[ \t]{0,4})[^\r\n]+/gi,
  // user:password@ of a URL, up to the last @ before the path.
  /(:\/\/[^\s/@:?#]{0,200}:)[^\s/?#]+(?=@)/g,
  // JSON Web Tokens: three parts of base64url, the first two of them objects.
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g,
  /(?<![A-Za-z0-9])(?:sk|rk)[-_](?=[\w-]{0,60}\d)[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,})/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])AIza[\w-]{35}/g,
  /(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /(?<![A-Za-z0-9])xox[a-z][-.][\w.-]{8,}/g,
  // name=value, with or without quotes, and "name": "value" of JSON.
  new RegExp(`(${secretName()}=["']?)[^\\s"'&;,]+`, "gi"),
  new RegExp(`("[\\w-]{0,40}?${secretName()}"\\s{0,4}:\\s{0,4}")(?:[^"\\\\]+|\\\\.){1,10000}`, "gi"),
];

function secretName(): string {
  const words = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api[_-]?key",
    "access[_-]?key",
    "private[_-]?key",
    "token",
  ];
  return `(?:${words.join("|")})`;
}

export const findShapes = (text: string): Span[] =>
  SHAPES.flatMap((shape) =>
    [...text.matchAll(shape)].map(({ 0: whole, 1: kept = "", index }) => ({
      start: index + kept.length,
      end: index + whole.length,
    })),
  );
