import { isUtf8 } from "node:buffer";
import { type Context, Position, ToolError } from "@octant/core";
import { toRef, type Workspace } from "@octant/host";
import { z } from "zod";
import { transform } from "./transform.ts";

/** A received body and the requested form. */
export interface ContentRequest {
  readonly bytes: Buffer;
  /** In lower case; empty when the server does not send it. */
  readonly type: string;
  readonly url: string;
  readonly as: "text" | "json" | "markdown" | "base64" | undefined;
  readonly select: string | undefined;
  readonly maxBytes: number;
}

export const Content = {
  text: z.string().optional(),
  json: z.unknown().optional(),
  base64: z.string().optional(),
  title: z.string().optional().describe("Page title, with Markdown"),
  tail: z.string().optional().describe("The end, when it does not fit whole"),
  omitted: z
    .object({ bytes: z.int(), lines: z.int().nullable(), start: Position })
    .optional()
    .describe("Gap before tail; continue with fs.read of ref"),
  truncated: z.boolean(),
  ref: z.string().optional().describe("The whole content, for fs.read"),
  note: z.string().optional(),
};
export type Content = z.input<z.ZodObject<typeof Content>>;

type Shelf = Pick<Workspace, "blobs" | "files">;

/** Returns the body in the requested form, or the one its type suggests, within the budget. */
export async function toContent(request: ContentRequest, shelf: Shelf, ctx: Context): Promise<Content> {
  const { bytes, type, url, maxBytes } = request;
  if (bytes.length === 0) return { text: "", truncated: false };
  const as = request.as ?? (request.select === undefined ? usualForm(bytes, type) : "json");
  if (as === "image") return excerpt(bytes, "auto", maxBytes, shelf, ctx);
  if (as === "base64" && Math.ceil(bytes.length / 3) * 4 > maxBytes)
    return excerpt(bytes, "base64", maxBytes, shelf, ctx);
  if (as === "base64") return { base64: bytes.toString("base64"), truncated: false };
  const text = decodeText(bytes, type);
  if (as === "json") return toJsonContent(request, text, shelf, ctx);
  if (as === "markdown" && isHtml(text, type)) {
    const { markdown, title } = await transform({ kind: "markdown", text, url }, ctx.signal);
    return { ...(title && { title }), ...(await toTextContent(markdown, request, shelf, ctx)) };
  }
  return toTextContent(text, request, shelf, ctx);
}

function usualForm(bytes: Buffer, type: string): "text" | "json" | "base64" | "image" {
  const [mime = ""] = type.split(";", 1);
  if (/^image\/(png|jpeg|gif|webp)$/.test(mime)) return "image";
  if (/[/+]json$/.test(mime)) return "json";
  if (/^text\/|[/+](xml|javascript|ecmascript|yaml|toml|graphql|x-www-form-urlencoded|x-ndjson)$/.test(mime))
    return "text";
  return isUtf8(bytes) && !bytes.includes(0) ? "text" : "base64";
}

const isHtml = (text: string, type: string): boolean =>
  /html/.test(type) || /^\s*<(!doctype html|html|head|body)\b/i.test(text);

async function toJsonContent(
  request: ContentRequest,
  text: string,
  shelf: Shelf,
  ctx: Context,
): Promise<Content> {
  const { select, maxBytes } = request;
  const hasRoom = (json: string) => Buffer.byteLength(json) <= maxBytes;
  // Content that does not fit is shown as text anyway.
  if (select === undefined && !hasRoom(text)) return toTextContent(text, request, shelf, ctx);
  const reading = await transform({ kind: "json", text, select }, ctx.signal);
  if (reading.kind === "missing")
    throw new ToolError("NOT_FOUND", `the answer has nothing at ${select}`, { id: select });
  if (reading.kind !== "value")
    return { ...(await toTextContent(text, request, shelf, ctx)), note: NOTES[reading.kind] };
  if (hasRoom(reading.text)) return { json: reading.value, truncated: false };
  return toTextContent(reading.text, request, shelf, ctx);
}

const NOTES = {
  no_json: "the body is not JSON, so it is returned as text",
  too_deep: "the body is JSON that is nested too deeply, so it is here as text",
} as const;

async function toTextContent(
  text: string,
  { maxBytes }: ContentRequest,
  shelf: Shelf,
  ctx: Context,
): Promise<Content> {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes || Buffer.byteLength(text) <= maxBytes)
    return { text, truncated: false };
  return excerpt(Buffer.from(text), "auto", maxBytes, shelf, ctx);
}

const MAX_BYTES_PER_UNIT = 3;

/** Stores the whole content and shows as much as fits, as fs.read does; a picture is attached. */
async function excerpt(
  bytes: Buffer,
  encoding: "auto" | "base64",
  maxBytes: number,
  { blobs, files }: Shelf,
  ctx: Context,
): Promise<Content> {
  const ref = toRef(blobs.put(bytes));
  const { content, picture } = await files.read(ref, {
    owner: ctx.caller.id,
    encoding,
    maxBytes,
    signal: ctx.signal,
  });
  if (picture) ctx.attach({ kind: "image", ...picture });
  const { text, base64, tail, omitted, truncated } = content;
  const note = picture && "the picture is attached";
  return { text, base64, tail, omitted, truncated, ref, note };
}

const MAX_SNIFFED_BYTES = 1_024;
const BOMS: readonly (readonly [string, string])[] = [
  ["utf-8", "\xef\xbb\xbf"],
  ["utf-16le", "\xff\xfe"],
  ["utf-16be", "\xfe\xff"],
];

/** Decodes a body by its byte order mark, the header, or the page's own declaration; otherwise as UTF-8. */
function decodeText(bytes: Buffer, contentType: string): string {
  const head = bytes.toString("latin1", 0, MAX_SNIFFED_BYTES);
  const marked = BOMS.find(([, mark]) => head.startsWith(mark))?.[0];
  const label =
    marked ?? charsetIn(contentType) ?? (/html|xml/.test(contentType) ? charsetIn(head) : undefined);
  return decodeAs(label ?? "utf-8", bytes);
}

const charsetIn = (text: string): string | undefined =>
  /(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text)?.[1];

function decodeAs(label: string, bytes: Buffer): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // An unknown name is ignored.
    return new TextDecoder().decode(bytes);
  }
}
