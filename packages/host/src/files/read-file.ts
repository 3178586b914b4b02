import { fstatSync, readSync } from "node:fs";
import { type Hash, type Position, type Range, ToolError } from "@octant/core";
import { notStored } from "../blobs/blobs.ts";
import { hashOf } from "../hashes.ts";
import { type ByteSource, fileSource, memorySource, readBytes } from "./byte-source.ts";
import { partsOf, readParts, type Span, toBase64Excerpt, toTextExcerpt } from "./excerpt.ts";
import { type Opened, type Reading, toPictureReading, toReading } from "./file-content.ts";
import {
  type FactsCache,
  type FileFacts,
  factsOf,
  MAX_UTF16_BYTES,
  readAll,
  SMALL_FILE_BYTES,
  versionOf,
} from "./file-facts.ts";
import { IMAGE_HEAD_BYTES, imageType, MAX_IMAGE_BYTES } from "./images.ts";
import { locate } from "./lines.ts";
import { bomOf, isText, nearestLine, type TextEncoding, utf16ToUtf8, wholeCharacters } from "./text.ts";

export interface ReadOptions {
  /** The reading caller: process refs are private to their owner. */
  readonly owner: string;
  readonly range?: Range | undefined;
  readonly encoding: "auto" | "utf-8" | "base64";
  /** How much content the answer may hold. */
  readonly maxBytes: number;
  /** Bigger pictures are answered as bytes. */
  readonly maxImageBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Up to here the whole file is hashed even if a part of it is read; fs.stat hashes bigger ones. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
/** So much of a file too big to look through decides whether it is text. */
const SNIFF_BYTES = 64 * 1024;
const BOM_BYTES = 3;
/** Below this size, scanning the bytes again is faster than a cache lookup. */
const REMEMBERED_BYTES = 16 * 1024;

/** Reads the requested content and closes the file. Small files are read in one piece. */
export async function readFile(file: Opened, options: ReadOptions, cache: FactsCache): Promise<Reading> {
  using _closedAtReturn = file;
  return options.range || file.size > SMALL_FILE_BYTES
    ? await readPart(file, options, cache)
    : readSmall(file, options, cache);
}

function readSmall(file: Opened, options: ReadOptions, cache: FactsCache): Reading {
  const bytes = readAll(file.fd, file.size);
  const facts = bytes.length < REMEMBERED_BYTES ? factsOf(bytes) : cache.ofBytes(file.fd, bytes);
  checkHash(file, facts.hash);
  const mime = pictureType(bytes, bytes.length, options);
  if (mime) return toPictureReading(file, { mime, bytes }, facts.hash);

  const text = options.encoding === "base64" ? undefined : textOf(bytes, facts);
  if (!text && options.encoding === "utf-8") throw notText(file);
  const content = text?.bytes ?? bytes;
  const span: Span = { ...START, end: content.length, endLine: facts.text?.newlines ?? null };
  const excerpt =
    (text && toTextExcerpt(span, partsOf(content, options.maxBytes))) ??
    toBase64Excerpt(span, partsOf(content, base64Budget(options)));
  const { encoding = "base64", bom = false } = text ?? {};
  return toReading(file, { excerpt, facts, encoding, bom, size: bytes.length });
}

const START = { start: 0, from: { line: 0, col: 0 } } as const;

function textOf(bytes: Buffer, { text }: FileFacts) {
  if (!text) return undefined;
  const { encoding, bom } = text;
  const utf8 = encoding === "utf-8" ? bytes.subarray(bomOf(bytes).length) : utf16ToUtf8(bytes, encoding);
  return utf8 && { bytes: utf8, encoding, bom };
}

/** Reads a range, or as much of a large file as fits, looking at no more bytes than needed. */
async function readPart(file: Opened, options: ReadOptions, cache: FactsCache): Promise<Reading> {
  const picture = options.range ? undefined : readPicture(file, options);
  if (picture) return picture;

  const before = versionNow(file);
  const facts = file.size <= MAX_HASHED_BYTES ? await cache.of(file.fd, options) : cache.known(file.fd);
  checkHash(file, facts?.hash);
  const bytes = file.size === 0 ? memorySource(readAll(file.fd)) : fileSource(file.fd, file.size);
  const text = options.encoding === "base64" ? undefined : await openText(file, bytes, facts);
  const found = text ? await findText(text, facts, options) : findBytes(bytes.size, options.range);
  const { span } = found;
  const textExcerpt = text && toTextExcerpt(span, await readParts(text.source, span, options.maxBytes));
  if (!textExcerpt && options.encoding === "utf-8") throw notText(file);
  const excerpt = textExcerpt ?? toBase64Excerpt(span, await readParts(bytes, span, base64Budget(options)));

  return toReading(file, {
    excerpt,
    // Facts counted before the file changed do not describe the bytes in this answer.
    facts: versionNow(file) === before ? facts : undefined,
    encoding: textExcerpt && text ? text.encoding : "base64",
    bom: text?.bom ?? false,
    size: bytes.size,
    ...(found.range && { range: found.range }),
  });
}

interface Text {
  /** UTF-8, regardless of the file's encoding. */
  readonly source: ByteSource;
  /** Where the text begins, after a mark. */
  readonly start: number;
  readonly encoding: TextEncoding;
  readonly bom: boolean;
}

/** The file as text; undefined when it is binary, as far as can be determined without reading a very big file whole. */
async function openText(
  file: Opened,
  bytes: ByteSource,
  facts: FileFacts | undefined,
): Promise<Text | undefined> {
  if (facts && !facts.text) return undefined;
  const head = await readBytes(bytes, 0, facts ? BOM_BYTES : SNIFF_BYTES);
  const { encoding, length } = bomOf(head);
  const bom = length > 0;
  if (encoding === "utf-8") {
    const isTextSoFar = facts !== undefined || isText(head.subarray(length, wholeCharacters(head)));
    return isTextSoFar ? { source: bytes, start: length, encoding, bom } : undefined;
  }
  const utf8 = file.size <= MAX_UTF16_BYTES ? utf16ToUtf8(readAll(file.fd), encoding) : undefined;
  return utf8 && { source: memorySource(utf8), start: 0, encoding, bom };
}

interface Found {
  readonly span: Span;
  /** The range that was read. */
  readonly range?: Range;
}

async function findText(
  { source, start }: Text,
  facts: FileFacts | undefined,
  { range, signal }: ReadOptions,
): Promise<Found> {
  if (!range)
    return { span: { start, from: START.from, end: source.size, endLine: facts?.text?.newlines ?? null } };
  const known = nearestLine(facts?.text, range.start.line);
  const from = await locate(source, { ...known, offset: start + known.offset }, range.start, signal);
  const to = await locate(source, from.lineStart, range.end, signal);
  const end = to.place.offset < from.place.offset ? from.place : to.place;
  return {
    span: {
      start: from.place.offset,
      from: from.place.position,
      end: end.offset,
      endLine: end.position.line,
    },
    range: { start: from.place.position, end: end.position },
  };
}

/** Bytes are one line, and its columns count them. */
function findBytes(size: number, range: Range | undefined): Found {
  if (!range) return { span: { ...START, end: size, endLine: null } };
  const offsetOf = ({ line, col }: Position) => (line > 0 ? size : Math.min(col, size));
  const start = offsetOf(range.start);
  const end = Math.max(start, offsetOf(range.end));
  const from = { line: 0, col: start };
  return { span: { start, from, end, endLine: null }, range: { start: from, end: { line: 0, col: end } } };
}

function readPicture(file: Opened, options: ReadOptions): Reading | undefined {
  const head = Buffer.alloc(IMAGE_HEAD_BYTES);
  readSync(file.fd, head, 0, head.length, 0);
  const mime = pictureType(head, file.size, options);
  if (!mime) return undefined;
  const bytes = readAll(file.fd, file.size);
  const hash = hashOf(bytes);
  checkHash(file, hash);
  return toPictureReading(file, { mime, bytes }, hash);
}

const pictureType = (
  head: Buffer,
  size: number,
  { encoding, maxImageBytes = MAX_IMAGE_BYTES }: ReadOptions,
) => (encoding === "auto" && size <= maxImageBytes ? imageType(head) : undefined);

/** Three bytes become four characters. */
const base64Budget = ({ maxBytes }: ReadOptions) => Math.floor(maxBytes / 4) * 3;

const versionNow = ({ fd }: Opened) => versionOf(fstatSync(fd, { bigint: true }));

function checkHash(file: Opened, actual: Hash | undefined): void {
  if (file.hash && actual && file.hash !== actual) throw notStored(file.hash);
}

const notText = ({ uri }: Opened) =>
  new ToolError("NOT_TEXT", `${uri} is not text; read it with encoding base64 or auto`, { uri });
