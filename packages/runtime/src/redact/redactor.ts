import { type Step, ToolError } from "@octant/core";
import { MIN_SECRET_CHARS, toForms } from "./forms.ts";
import { createGitleaks } from "./gitleaks.ts";
import { mergeSpans, type Span } from "./spans.ts";

/** Removes secrets from a text. Logs, audit and errors go through the same one. */
export type Redact = (text: string) => string;

export const REDACTED = "[redacted]";

export interface RedactorOptions {
  /** Values that must never be shown, as collectSecrets finds them; short ones are ignored. */
  readonly secrets: Iterable<string>;
}

/** Finds the given secrets, plain or encoded, and text in the shape of one. Takes time linear in the text. */
export function createRedactor({ secrets }: RedactorOptions): Redact {
  const known = [...secrets].filter((secret) => secret.length >= MIN_SECRET_CHARS);
  const forms = [...new Set(known.flatMap(toForms))];
  const findByRules = createGitleaks();

  return (text) => {
    const spans = mergeSpans([
      ...findShapes(text),
      ...findByRules(text),
      ...forms.flatMap((form) => findAll(text, form)),
    ]);
    if (spans.length === 0) return text;
    const starts = [0, ...spans.map(({ end }) => end)];
    return starts.map((start, i) => text.slice(start, spans[i]?.start)).join(REDACTED);
  };
}

function findAll(text: string, form: string): Span[] {
  const spans: Span[] = [];
  // One step at a time: a secret may overlap itself.
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
    spans.push({ start: at, end: at + form.length });
  return spans;
}

/** A step that removes secrets from error messages. Details are unchanged: a patch must not change. */
export const redactErrors =
  (redact: Redact): Step =>
  async (_call, _ctx, next) => {
    try {
      return await next();
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      const message = redact(cause.message);
      throw message === cause.message ? cause : new ToolError(cause.code, message, cause.details, { cause });
    }
  };

/** A word about the value in place of one, as in "the URL ends with ?token=required". */
const DESCRIPTION = `(?:required|optional|string|true|false|null|none)[.)\\]]{0,3}(?:[\\s"'&;,]|$)`;

/**
 * The shapes of secrets. A first group is preserved. Each pattern starts at a fixed text, or at the start of a run of
 * its characters, and nothing can fail after a nested repetition, so that no text is scanned more than a few times.
 */
const SHAPES: readonly RegExp[] = [
  // An unfinished block is secret to its end.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  // With a digit or a padding, so that "Basic authentication" does not match.
  /(\b(?:Bearer|Basic)[ \t]{1,4})(?=[\w.~+/=-]{0,100}[\d=])[\w.~+/=-]{8,}/gi,
  /(\b(?:authorization|proxy-authorization|x-api-key|cookie|set-cookie):[ \t]{0,4})[^\r\n]+/gi,
  // user:password@ of a URL, up to the last @ before the path.
  /(:\/\/[^\s/@:?#]{0,200}:)[^\s/?#]+(?=@)/g,
  // JSON Web Tokens: three parts of base64url, the first two of them objects.
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g,
  /(?<![A-Za-z0-9])(?:sk|rk)[-_](?=[\w-]{0,60}\d)[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,})/g,
  // Our own tokens, and one-time links to the console.
  /(?<![A-Za-z0-9])oct_[0-9a-f]{16}_[\w-]{20,}/g,
  /(\/console\/open\?code=)[\w-]{20,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])AIza[\w-]{35}/g,
  /(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /(?<![A-Za-z0-9])xox[a-z][-.][\w.-]{8,}/g,
  // name=value, with or without quotes, and "name": "value" of JSON.
  new RegExp(`(${secretName()}=["']?)(?!${DESCRIPTION})[^\\s"'&;,]+`, "gi"),
  // name: value of YAML and name = "value" of code; with a digit, so that a type does not match; not a URL, path or
  // variable.
  new RegExp(
    `(${secretName()}["']?[ \\t]{0,4}[:=][ \\t]{1,4}["']?)(?![a-z]+:\\/\\/|[~/$<{.])(?=[^\\s"',;]{0,100}\\d)[^\\s"',;]{8,}`,
    "gi",
  ),
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
    "account[_-]?key",
    "\\bpwd",
    "token",
  ];
  return `(?:${words.join("|")})`;
}

function findShapes(text: string): Span[] {
  // Few texts have one, and the search takes a tenth of the time of matchAll.
  const found = SHAPES.filter((shape) => text.search(shape) >= 0);
  return found.flatMap((shape) =>
    [...text.matchAll(shape)].map(({ 0: whole, 1: kept = "", index }) => ({
      start: index + kept.length,
      end: index + whole.length,
    })),
  );
}
