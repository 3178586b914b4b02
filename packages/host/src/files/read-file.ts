import { fstatSync, readSync } from "node:fs";
import { Hash, type Position, Range, ToolError } from "@octant/core";
import { z } from "zod";
import { notStored } from "../blobs/blobs.ts";
import { hashOf } from "../hashes.ts";
import { type ByteSource, fileSource, memorySource, readBytes } from "./byte-source.ts";
import { Excerpt, readParts, type Span, toBase64Excerpt, toTextExcerpt } from "./excerpt.ts";
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
import {
  bomOf,
  Eol,
  isText,
  lineCountOf,
  nearestLine,
  TEXT_ENCODINGS,
  type TextEncoding,
  utf16ToUtf8,
  wholeCharacters,
} from "./text.ts";

/** A file or a ref, open for reading. */
export interface Opened extends Disposable {
  readonly fd: number;
  readonly size: number;
  readonly uri: string;
  readonly mtime?: string;
  /** The expected hash, for content addressed by hash. */
  readonly hash?: Hash;
}

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

/** The answer for a file: the excerpt, and the facts known so far. */
export const FileContent = z.object({
  uri: z.string(),
  encoding: z.enum([...TEXT_ENCODINGS, "base64", "image"]).describe("image: the picture is attached"),
  ...Excerpt.shape,
  truncated: z.boolean(),
  ref: z.string().optional().describe("Where all of it can be read, by range"),
  hash: Hash.nullable().describe("Null for a part of a file above 64 MiB; fs.stat has it, up to 256 MiB"),
  size: z.int(),
  mtime: z.string().optional(),
  eol: Eol.optional(),
  bom: z.boolean().optional(),
  line_count: z.int().nullable().optional(),
  range: Range.optional().describe("The range that was read"),
  mime: z.string().optional(),
});

/** The answer and its attached picture. */
export interface Reading {
  readonly content: z.output<typeof FileContent>;
  readonly picture?: { readonly mime: string; readonly bytes: Buffer };
}

/** Up to here the whole file is hashed even if a part of it is read; fs.stat hashes bigger ones. */
const MAX_EAGER_HASH_BYTES = 64 * 1024 * 1024;
/** How much of a file that is too big to scan decides whether it is text. */
const SNIFF_BYTES = 64 * 1024;
const BOM_BYTES = 3;
/** Below this size, scanning the bytes again is faster than a cache lookup. */
const REMEMBERED_BYTES = 16 * 1024;

/** Reads the requested content and closes the file, looking at no more bytes of a big file than needed. */
export async function readFile(file: Opened, options: ReadOptions, cache: FactsCache): Promise<Reading> {
  using _closedAtReturn = file;
  const { range, encoding, maxBytes } = options;
  // In one piece, so that the facts describe exactly these bytes. Files in /proc report size 0.
  const isSmall = file.size === 0 || (!range && file.size <= SMALL_FILE_BYTES);
  const whole = isSmall ? readAll(file.fd, file.size) : undefined;
  const picture = range ? undefined : readPicture(file, whole, options);
  if (picture) return picture;

  const before = whole ? undefined : versionNow(file);
  const known = whole ? factsOfSmall(file, whole, cache) : await factsOfBig(file, options, cache);
  checkHash(file, known?.hash);
  const bytes = whole ? memorySource(whole) : fileSource(file.fd, file.size);
  const text = encoding === "base64" ? undefined : await openText(file, bytes, known);
  const found = text ? await findText(text, known, options) : findBytes(bytes.size, range);
  const { span } = found;
  const textExcerpt = text && toTextExcerpt(span, await readParts(text.source, span, maxBytes));
  if (!textExcerpt && encoding === "utf-8") {
    const message = `${file.uri} is not text; read it with encoding base64 or auto`;
    throw new ToolError("NOT_TEXT", message, { uri: file.uri });
  }
  // Three bytes become four characters.
  const excerpt =
    textExcerpt ?? toBase64Excerpt(span, await readParts(bytes, span, Math.floor(maxBytes / 4) * 3));

  // Facts counted before the file changed do not describe the bytes in this answer.
  const facts = whole || versionNow(file) === before ? known : undefined;
  const truncated = excerpt.omitted !== undefined;
  return {
    content: {
      uri: file.uri,
      encoding: textExcerpt && text ? text.encoding : "base64",
      ...excerpt,
      truncated,
      ...(truncated && { ref: file.uri }),
      hash: file.hash ?? facts?.hash ?? null,
      size: bytes.size,
      ...(file.mtime !== undefined && { mtime: file.mtime }),
      ...(textExcerpt && {
        ...(facts?.text && { eol: facts.text.eol }),
        bom: text?.bom ?? false,
        line_count: facts?.text ? lineCountOf(facts.text) : null,
      }),
      ...(found.range && { range: found.range }),
    },
  };
}

const factsOfSmall = ({ fd }: Opened, bytes: Buffer, cache: FactsCache): FileFacts =>
  bytes.length < REMEMBERED_BYTES ? factsOf(bytes) : cache.ofBytes(fd, bytes);

const factsOfBig = async ({ fd, size }: Opened, options: ReadOptions, cache: FactsCache) =>
  size <= MAX_EAGER_HASH_BYTES ? cache.of(fd, options) : cache.known(fd);

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
  if (file.size > MAX_UTF16_BYTES) return undefined;
  const utf8 = utf16ToUtf8(bytes.whole ?? readAll(file.fd), encoding);
  return utf8 && { source: memorySource(utf8), start: 0, encoding, bom };
}

const FILE_START = { line: 0, col: 0 } as const;

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
    return { span: { start, from: FILE_START, end: source.size, endLine: facts?.text?.newlines ?? null } };
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
  if (!range) return { span: { start: 0, from: FILE_START, end: size, endLine: null } };
  const offsetOf = ({ line, col }: Position) => (line > 0 ? size : Math.min(col, size));
  const start = offsetOf(range.start);
  const end = Math.max(start, offsetOf(range.end));
  const from = { line: 0, col: start };
  return { span: { start, from, end, endLine: null }, range: { start: from, end: { line: 0, col: end } } };
}

function readPicture(file: Opened, whole: Buffer | undefined, options: ReadOptions): Reading | undefined {
  const { uri, mtime } = file;
  if (options.encoding !== "auto" || file.size > (options.maxImageBytes ?? MAX_IMAGE_BYTES)) return undefined;
  const head = whole ?? Buffer.alloc(IMAGE_HEAD_BYTES);
  if (!whole) readSync(file.fd, head, 0, head.length, 0);
  const mime = imageType(head);
  if (!mime) return undefined;
  const bytes = whole ?? readAll(file.fd, file.size);
  const hash = hashOf(bytes);
  checkHash(file, hash);
  const shared = { uri, mime, truncated: false, hash, size: bytes.length };
  return {
    content: { ...shared, encoding: "image", ...(mtime !== undefined && { mtime }) },
    picture: { mime, bytes },
  };
}

const versionNow = ({ fd }: Opened) => versionOf(fstatSync(fd, { bigint: true }));

function checkHash(file: Opened, actual: Hash | undefined): void {
  if (file.hash && actual && file.hash !== actual) throw notStored(file.hash);
}
