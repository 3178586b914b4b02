export type FrontMatterValue = string | readonly string[];

export interface FrontMatter {
  /** By name; nested maps are left out. */
  readonly fields: ReadonlyMap<string, FrontMatterValue>;
  readonly body: string;
}

/** A head beyond this is not read, so that a hostile one costs nothing. */
const MAX_HEAD_CHARS = 16 * 1024;

/**
 * The head and body of a Markdown file of an agent. It reads the part of YAML that such heads use: text, quoted text,
 * lists, and blocks after `|` and `>`. Anchors, aliases and tags are plain text to it, so nothing can expand; a colon
 * in plain text, which YAML refuses, is part of the text.
 */
export function parseFrontMatter(markdown: string): FrontMatter {
  const [whole = "", head = ""] =
    /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(markdown) ?? [];
  if (whole === "" || head.length > MAX_HEAD_CHARS) return { fields: new Map(), body: markdown };
  const fields = new Map<string, FrontMatterValue>();
  const lines = head.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const [, key, given = ""] = /^([\w-]+):(?:[ \t]+(.*))?$/.exec(lines[at] ?? "") ?? [];
    if (key === undefined) continue;
    const length = lines.slice(at + 1).findIndex((line) => !isContinued(line));
    const inner = lines.slice(at + 1, length < 0 ? lines.length : at + 1 + length);
    const value = toValue(given.trim(), inner);
    if (value !== undefined && !fields.has(key)) fields.set(key, value);
    at += inner.length;
  }
  return { fields, body: markdown.slice(whole.length) };
}

/** The text of a field; the items of a list, joined by spaces. */
export const textField = ({ fields }: Pick<FrontMatter, "fields">, name: string): string | undefined => {
  const value = fields.get(name);
  return typeof value === "object" ? value.join(" ") : value;
};

/** The items of a list, or of a text that separates them by commas. */
export const listField = (
  { fields }: Pick<FrontMatter, "fields">,
  name: string,
): readonly string[] | undefined => {
  const value = fields.get(name);
  return typeof value === "string" ? splitOutside(value) : value;
};

export const isOn = ({ fields }: Pick<FrontMatter, "fields">, name: string): boolean =>
  fields.get(name) === "true";

/** List items may be as far left as their key. */
const isContinued = (line: string): boolean => /^(\s|-\s|-$|$|#)/.test(line);

function toValue(given: string, inner: readonly string[]): FrontMatterValue | undefined {
  const [, style] = /^([|>])[+-]?\d?[+-]?(?:\s+#.*)?$/.exec(given) ?? [];
  if (style !== undefined) return toBlock(inner, style === ">");
  const lines = inner.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  if (given === "" || given.startsWith("#")) {
    if (lines.length === 0) return "";
    if (lines.every((line) => /^-(\s|$)/.test(line)))
      return lines.map((line) => toText(line.slice(1).trim()));
    return lines.some((line) => /^[\w-]+:(\s|$)/.test(line)) ? undefined : toText(lines.join(" "));
  }
  const text = [given, ...lines].join(" ");
  const [, items] = /^\[(.*)\](?:\s+#.*)?$/.exec(text) ?? [];
  return items === undefined ? toText(text) : splitOutside(items);
}

/** Commas inside quotes and brackets, as in `Bash(git add, git commit)`, do not separate. */
const splitOutside = (text: string): readonly string[] =>
  (text.match(/(?:"[^"]*"|'[^']*'|\([^)]*\)|[^,])+/g) ?? [])
    .map((item) => toText(item.trim()))
    .filter(Boolean);

function toText(given: string): string {
  const [, double] = /^"((?:[^"\\]|\\.)*)"(?:\s+#.*)?$/.exec(given) ?? [];
  if (double !== undefined) return double.replace(/\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)/g, toEscaped);
  const [, single] = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(given) ?? [];
  return single?.replaceAll("''", "'") ?? given.replace(/\s+#.*$/, "");
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", 0: "\0", e: "\x1b" };

const toEscaped = (_: string, code: string): string =>
  code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code);

function toBlock(lines: readonly string[], isFolded: boolean): string {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const indent = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  const text = lines
    .map((line) => line.slice(indent).trimEnd())
    .join("\n")
    .trim();
  return isFolded ? text.replace(/(?<!\n)\n(?!\n)/g, " ").replaceAll(/\n(\n+)/g, "$1") : text;
}
