import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { ToolError } from "@octant/core";
import { toNetworkError } from "./failures.ts";
import type { Target } from "./target.ts";

export type Bytes = AsyncIterable<Buffer>;

export const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";

/** The decompressed body; TOO_LARGE as soon as that exceeds `maxBytes`. */
export async function* decodedBody(
  message: IncomingMessage,
  target: Target,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let wireBytes = 0;
  const check = (length: number) => {
    if (length > maxBytes) throw tooLarge(target, maxBytes);
    if (length > DENSE_BYTES && length > wireBytes * MAX_RATIO) throw tooDense(target);
  };
  let body: Bytes = watched(message, (length) => {
    wireBytes = length;
    check(length);
  });
  for (const decoder of decodersOf(message, target)) body = watched(through(body, decoder), check);
  try {
    yield* body;
  } catch (cause) {
    throw toNetworkError(cause, target);
  } finally {
    // An abandoned response should stop arriving.
    if (!message.readableEnded) message.destroy();
  }
}

/** Maximum compression ratio; only bombs exceed it. */
const MAX_RATIO = 500;
/** Below this a dense body does no harm. */
const DENSE_BYTES = 64 * 1024 * 1024;

/** Passes the bytes on as long as `check` does not object to their number. */
async function* watched(source: Bytes, check: (length: number) => void): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    check(length);
    yield chunk;
  }
}

const tooLarge = ({ shown }: Target, limit: number) =>
  new ToolError(
    "TOO_LARGE",
    `the body from ${shown} has more than ${limit} bytes; a higher max_size takes it, or net.download`,
    {
      limit,
      what: "bytes after decompression",
    },
  );

const tooDense = ({ shown }: Target) =>
  new ToolError(
    "TOO_LARGE",
    `the body from ${shown} grows more than ${MAX_RATIO} times when decompressed, like a decompression bomb; it was refused`,
    {
      limit: MAX_RATIO,
      what: "ratio of decompression",
    },
  );

type Decoder = (typeof DECODERS)[string];
/** Once is usual, twice is odd, more is an attack. */
const MAX_ENCODINGS = 3;

/** In the order in which they are taken off. */
function decodersOf(message: IncomingMessage, { shown }: Target): Decoder[] {
  const names = (message.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const encodings = names
    .filter((name) => name !== "" && name !== "identity")
    .map((name) => name.replace(/^x-/, ""));
  if (encodings.length > MAX_ENCODINGS)
    throw new ToolError(
      "LIMIT_EXCEEDED",
      `the body from ${shown} is compressed ${encodings.length} times over`,
      {
        limit: MAX_ENCODINGS,
        actual: encodings.length,
        what: "encodings",
      },
    );
  const decoders = encodings.flatMap((name) => (Object.hasOwn(DECODERS, name) ? (DECODERS[name] ?? []) : []));
  if (decoders.length === encodings.length) return decoders.reverse();
  throw new ToolError("UPSTREAM_ERROR", `the body from ${shown} has an encoding that was not requested`, {});
}

async function* through(source: Bytes, create: Decoder): AsyncGenerator<Buffer> {
  const { first, all } = await peek(source);
  if (!first) return;
  const decoder = create(first);
  const feeding = pipeline(all, decoder);
  // The reader below sees the same failure.
  feeding.catch(() => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
  }
}

/** The first bytes decide between the two kinds of deflate, and whether there is anything at all. */
async function peek(source: Bytes): Promise<{ first: Buffer | undefined; all: Bytes }> {
  const chunks = source[Symbol.asyncIterator]();
  let next = await chunks.next();
  while (!next.done && next.value.length === 0) next = await chunks.next();
  const first: Buffer | undefined = next.done ? undefined : next.value;
  const all = (async function* () {
    if (first) yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  return { first, all };
}

/** The window that RFC 9659 allows: 8 MiB. More would let a small body claim much memory. */
const ZSTD_WINDOW_LOG = 23;
const chunkSize = 64 * 1024;
const ZLIB_METHOD = 8;

const DECODERS: Readonly<Record<string, (first: Buffer) => Duplex>> = {
  gzip: () => createGunzip({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () =>
    createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
  deflate: (first) =>
    (first[0]! & 0x0f) === ZLIB_METHOD ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize }),
};
