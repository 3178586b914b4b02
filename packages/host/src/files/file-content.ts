import type { Hash, Range } from "@octant/core";
import type { Excerpt } from "./excerpt.ts";
import type { FileFacts } from "./file-facts.ts";
import { type Eol, lineCountOf, type TextEncoding } from "./text.ts";

/** A file or a ref, open for reading. */
export interface Opened extends Disposable {
  readonly fd: number;
  readonly size: number;
  readonly uri: string;
  readonly mtime?: string;
  /** The expected hash, for content addressed by hash. */
  readonly hash?: Hash;
}

/** The answer for a file: the excerpt, and the facts known so far. */
export interface FileContent extends Excerpt {
  readonly uri: string;
  readonly encoding: TextEncoding | "base64" | "image";
  readonly truncated: boolean;
  /** Where all of it can be read, part by part. */
  readonly ref?: string;
  readonly hash: Hash | null;
  readonly size: number;
  readonly mtime?: string;
  readonly eol?: Eol;
  readonly bom?: boolean;
  /** Null when not counted yet. */
  readonly line_count?: number | null;
  readonly range?: Range;
  readonly mime?: string;
}

export interface Picture {
  readonly mime: string;
  readonly bytes: Buffer;
}

/** The answer and its attached picture. */
export interface Reading {
  readonly content: FileContent;
  readonly picture?: Picture;
}

export interface Read {
  readonly excerpt: Excerpt;
  readonly facts: FileFacts | undefined;
  readonly encoding: TextEncoding | "base64";
  readonly bom: boolean;
  readonly size: number;
  readonly range?: Range;
}

export function toReading({ uri, mtime, hash }: Opened, read: Read): Reading {
  const { excerpt, facts, encoding, size, range } = read;
  const truncated = excerpt.omitted !== undefined;
  return {
    content: {
      uri,
      encoding,
      ...excerpt,
      truncated,
      ...(truncated && { ref: uri }),
      hash: hash ?? facts?.hash ?? null,
      size,
      ...(mtime !== undefined && { mtime }),
      ...(encoding !== "base64" && textFields(read)),
      ...(range && { range }),
    },
  };
}

const textFields = ({ facts, bom }: Read) => ({
  ...(facts?.text && { eol: facts.text.eol }),
  bom,
  line_count: facts?.text ? lineCountOf(facts.text) : null,
});

export function toPictureReading({ uri, mtime }: Opened, picture: Picture, hash: Hash): Reading {
  const { mime, bytes } = picture;
  const shared = { uri, mime, truncated: false, hash, size: bytes.length };
  return { content: { ...shared, encoding: "image", ...(mtime !== undefined && { mtime }) }, picture };
}
