import { parseQuotedName } from "../patch/git-name.ts";
import { type Path, toBytes } from "../path.ts";

const LETTERS = new Map(
  [...'abtnvfr"\\'].map((letter, n) => [[7, 8, 9, 10, 11, 12, 13, 34, 92][n]!, letter]),
);
const needsQuotes = (byte: number) => byte < 0x20 || byte >= 0x7f || LETTERS.has(byte);

/** A name as git prints it under core.quotePath. */
export function quoteName(name: Path): string {
  const bytes = toBytes(name);
  if (!bytes.some(needsQuotes)) return name;
  const parts = [...bytes].map((byte) => {
    if (!needsQuotes(byte)) return String.fromCharCode(byte);
    return `\\${LETTERS.get(byte) ?? byte.toString(8).padStart(3, "0")}`;
  });
  return `"${parts.join("")}"`;
}

/** The name that git printed, in quotes or not. */
export const unquoteName = (text: string): Path => parseQuotedName(text)?.name ?? text;
