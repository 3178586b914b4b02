import { isUtf8 } from "node:buffer";

/**
 * A lossless view of a file's bytes as a string, and of the patch's text in the same form. Matching compares such
 * strings, so bytes of an unknown encoding survive.
 */
export interface TextForm {
  readonly bom: string;
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
  /** The patch's text in this form; undefined when impossible. */
  fromPatch(text: string): string | undefined;
  /** For people to read; not lossless. */
  toDisplay(text: string): string;
  /** The index in `line` of a column in UTF-16 units; undefined inside a character. */
  indexOfColumn(line: string, column: number): number | undefined;
}

/** The possible forms of a file, most likely first. */
export function textFormsOf(bytes: Buffer): readonly TextForm[] {
  const utf16 = utf16FormOf(bytes);
  if (utf16) return [utf16];
  if (isUtf8(bytes)) return [UTF8];
  return MULTIBYTE.test(bytes.toString("latin1")) ? [UTF8, LATIN1] : [LATIN1, UTF8];
}

export function utf16FormOf(bytes: Buffer): TextForm | undefined {
  if (bytes.length < 2 || bytes.length % 2 !== 0) return undefined;
  const mark = bytes.readUInt16BE(0);
  return mark === 0xfffe ? UTF16LE : mark === 0xfeff ? UTF16BE : undefined;
}

const MULTIBYTE = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;
const NOT_ASCII = /[^\0-\x7f]/;
const NOT_LATIN1 = /[^\0-\xff]/;

const unit = (line: string, column: number) => (column <= line.length ? column : undefined);

/** One character per byte; the patch's characters become their UTF-8 bytes. */
export const UTF8: TextForm = {
  bom: "\xef\xbb\xbf",
  decode: (bytes) => bytes.toString("latin1"),
  encode: (text) => Buffer.from(text, "latin1"),
  fromPatch: (text) => (NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text),
  toDisplay: (text) => Buffer.from(text, "latin1").toString(),
  indexOfColumn(line, column) {
    if (!NOT_ASCII.test(line)) return unit(line, column);
    let units = 0;
    let index = 0;
    for (const char of line.matchAll(CHARACTER)) {
      if (units >= column) break;
      units += char[0].length === 4 ? 2 : 1;
      index += char[0].length;
    }
    return units === column ? index : undefined;
  },
};

/** A UTF-8 character in its bytes, or one invalid byte. */
const CHARACTER = new RegExp(`${MULTIBYTE.source}|[^]`, "g");

const LATIN1: TextForm = {
  bom: UTF8.bom,
  decode: UTF8.decode,
  encode: UTF8.encode,
  fromPatch: (text) => (NOT_LATIN1.test(text) ? undefined : text),
  toDisplay: (text) => text,
  indexOfColumn: unit,
};

const UTF16LE: TextForm = {
  bom: "\ufeff",
  decode: (bytes) => bytes.toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le"),
  fromPatch: (text) => text,
  toDisplay: (text) => text.toWellFormed(),
  indexOfColumn: (line, column) =>
    /^[\ud800-\udbff][\udc00-\udfff]$/.test(line.slice(column - 1, column + 1))
      ? undefined
      : unit(line, column),
};

const UTF16BE: TextForm = {
  ...UTF16LE,
  decode: (bytes) => Buffer.from(bytes).swap16().toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le").swap16(),
};
