import { fromNative, type Path, toBytes } from "../path.ts";

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};
const LETTERS = new Map(Object.entries(ESCAPES).map(([letter, byte]) => [byte, letter]));

/** A C-quoted name at the start of `text`, and its length there; undefined when there is none. */
export function parseQuotedName(text: string): { name: Path; length: number } | undefined {
  const quoted = /^"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"/.exec(text);
  if (!quoted) return undefined;
  const parts = [...quoted[1]!.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)].map(([part, octal, letter]) => {
    if (octal) return Buffer.of(Number.parseInt(octal, 8));
    return letter ? Buffer.of(ESCAPES[letter]!) : Buffer.from(part);
  });
  return { name: fromNative(Buffer.concat(parts)), length: quoted[0].length };
}

/** The plain name, or C-quoted where git could not read it back. Valid UTF-8 stays readable. */
export function encodeName(name: Path): string {
  if (!/["\\\x00-\x1f\x7f\uDC80-\uDCFF]/.test(name)) return name;
  if (name.isWellFormed())
    return `"${name.replace(/["\\\x00-\x1f\x7f]/g, (char) => escapeByte(char.charCodeAt(0)))}"`;
  return `"${[...toBytes(name)].map((byte) => (byte < 0x80 ? plainOrEscaped(byte) : escapeByte(byte))).join("")}"`;
}

const plainOrEscaped = (byte: number) =>
  byte < 0x20 || byte === 0x7f || byte === 0x22 || byte === 0x5c
    ? escapeByte(byte)
    : String.fromCharCode(byte);

const escapeByte = (byte: number) => `\\${LETTERS.get(byte) ?? byte.toString(8).padStart(3, "0")}`;
