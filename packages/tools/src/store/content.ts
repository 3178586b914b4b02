import { ANSWER_BYTES, type Context, Hash, invalidArgument, MAX_ANSWER_BYTES, ToolError } from "@octant/core";
import { type ProjectStore, type StoredContent, type Workspace, wholeCharacters } from "@octant/host";
import { z } from "zod";

export type StoreWorkspace = Pick<Workspace, "storeOf" | "blobs" | "confinement">;

/** Content in a call: as text, as base64, or as bytes beside the call on a binary wire. */
export const contentInput = {
  content: z
    .string()
    .optional()
    .describe("Text, or base64 with encoding; absent when bytes are sent beside the call"),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8"),
};

const MAX_INLINE_BYTES = 10 * 1024 * 1024;

export async function storeContent(
  { storeOf }: StoreWorkspace,
  { content, encoding }: z.output<z.ZodObject<typeof contentInput>>,
  { upload, signal, caller }: Context,
): Promise<StoredContent> {
  const store = storeOf(caller.id);
  if (upload && content === undefined) return store.content.put(upload.read(), signal);
  if (content === undefined)
    throw invalidArgument(
      "content",
      "no content: give it as text or base64, or send bytes over a binary wire",
    );
  return store.content.put([toBytes(content, encoding)], signal);
}

function toBytes(content: string, encoding: "utf-8" | "base64"): Buffer {
  const bytes = Buffer.from(content, encoding);
  // Node skips invalid base64; the stored bytes must be the intended ones.
  if (encoding === "base64" && bytes.toString("base64").replace(/=+$/, "") !== content.replace(/\s|=+$/g, ""))
    throw invalidArgument("content", "not base64");
  if (bytes.length > MAX_INLINE_BYTES)
    throw new ToolError(
      "TOO_LARGE",
      `content in a call has at most ${MAX_INLINE_BYTES} bytes; send more over a binary wire`,
      {
        limit: MAX_INLINE_BYTES,
        actual: bytes.length,
      },
    );
  return bytes;
}

export const readInput = {
  as: z
    .enum(["auto", "utf-8", "base64", "binary"])
    .default("auto")
    .describe("auto: text if UTF-8, else base64; binary: bytes beside the answer, on a binary wire only"),
  offset: z.int().min(0).default(0).describe("Content bytes"),
  max_bytes: z
    .int()
    .min(1)
    .max(MAX_ANSWER_BYTES)
    .optional()
    .describe(`Default: ${ANSWER_BYTES}; for binary, everything from offset on`),
};

export const readOutput = {
  hash: Hash,
  size: z.int(),
  ref: z.string().describe("Readable with fs.read, ranged and paged"),
  encoding: z.enum(["utf-8", "base64", "binary"]),
  text: z.string().optional(),
  base64: z.string().optional(),
  truncated: z.boolean().describe("More bytes follow; call again with offset"),
  next_offset: z.int().optional(),
};

type ReadInput = z.output<z.ZodObject<typeof readInput>>;

/** Content of the store, or of the undo history. */
export function readContent(
  workspace: StoreWorkspace,
  hash: Hash,
  input: ReadInput,
  ctx: Context,
  mime: string,
) {
  const { size, ref, read } = find(workspace, hash, ctx.caller.id);
  const known = { hash, size, ref };
  if (input.as === "binary") {
    const from = Math.min(input.offset, size);
    const to = Math.min(from + (input.max_bytes ?? size), size);
    ctx.send({ mime, size: to - from, read: () => pages(read, from, to) });
    const truncated = to < size;
    return { ...known, encoding: "binary" as const, truncated, ...(truncated && { next_offset: to }) };
  }
  const bytes = read(input.offset, input.max_bytes ?? ANSWER_BYTES);
  const end = input.offset + bytes.length;
  const text = input.as === "base64" ? undefined : toText(bytes, end < size);
  if (text === undefined && input.as === "utf-8")
    throw new ToolError("NOT_TEXT", `${hash} is not UTF-8 at byte ${input.offset}; ask for base64`, {
      uri: ref,
    });
  const taken = text === undefined ? bytes.length : Buffer.byteLength(text);
  const next = input.offset + taken;
  const truncated = next < size;
  return {
    ...known,
    ...(text === undefined
      ? { encoding: "base64" as const, base64: bytes.toString("base64") }
      : { encoding: "utf-8" as const, text }),
    truncated,
    ...(truncated && { next_offset: next }),
  };
}

/** Small, so that the engine collects pages that were sent often: large ones pile up outside its heap. */
const PAGE_BYTES = 16 * 1024;

/** A stretch of content, read from the disk as fast as it is sent. */
async function* pages(read: Found["read"], from: number, to: number): AsyncIterable<Uint8Array> {
  for (let at = from; at < to; at += PAGE_BYTES) yield read(at, Math.min(PAGE_BYTES, to - at));
}

const SAMPLE_BYTES = 64 * 1024;

/** Whether the content begins as text: valid UTF-8 without NUL, as for files. */
export const isText = ({ content }: ProjectStore, { hash, size }: StoredContent): boolean =>
  toText(content.read(hash, 0, SAMPLE_BYTES), size > SAMPLE_BYTES)?.includes("\0") === false;

/** undefined when it is not text. A character split by the end of the page is left for the next page. */
function toText(bytes: Buffer, more: boolean): string | undefined {
  const whole = more ? bytes.subarray(0, wholeCharacters(bytes)) : bytes;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
    return whole.length === 0 && bytes.length > 0 ? undefined : text;
  } catch {
    return undefined;
  }
}

interface Found {
  readonly size: number;
  readonly ref: string;
  read(offset: number, length: number): Buffer;
}

export function find({ storeOf, blobs }: StoreWorkspace, hash: Hash, caller: string): Found {
  const { content } = storeOf(caller);
  if (!isStored(content, hash) && blobs.isVisible(hash, caller)) {
    const bytes = blobs.get(hash);
    return {
      size: bytes.length,
      ref: `blob:${hash}`,
      read: (offset, length) => bytes.subarray(offset, offset + length),
    };
  }
  return {
    size: content.stat(hash).size,
    ref: `cas:${hash}`,
    read: (offset, length) => content.read(hash, offset, length),
  };
}

function isStored(content: ProjectStore["content"], hash: Hash): boolean {
  try {
    content.stat(hash);
    return true;
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "NOT_FOUND") return false;
    throw cause;
  }
}
