import type { Attachment, Envelope, Reply, ToText } from "@octant/core";
import type { ResourceContent } from "./features/sources.ts";

/** Above this the text block is only the head of the answer. */
export const MAX_TEXT_BYTES = 64 * 1024;

const MAX_BYTES_PER_UNIT = 3;
const CUT_NOTE = "\n[cut here: the whole answer is in structuredContent; long content is behind its ref]";

/** `structured` gives the envelope, as structured content and as text; `text` gives what a model reads best. */
export const ANSWERS = ["structured", "text"] as const;
export type Answers = (typeof ANSWERS)[number];

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface MediaBlock {
  readonly type: Attachment["kind"];
  readonly data: string;
  readonly mimeType: string;
}

export interface ResourceBlock {
  readonly type: "resource";
  readonly resource: ResourceContent;
}

export interface CallToolResult {
  readonly content: readonly (TextBlock | MediaBlock | ResourceBlock)[];
  readonly structuredContent?: Envelope;
  readonly isError: boolean;
}

/** How an answer becomes a result. */
export type ToResult = (reply: Reply) => CallToolResult;

/** A reply that is to be shown in a way of its own. */
export interface ShownReply extends Reply {
  readonly toResult?: ToResult;
}

/** Undefined for the usual way, which has a quick path of its own. */
export const toResultFor = (answers: Answers | ToResult, toText: ToText): ToResult | undefined =>
  typeof answers === "function" ? answers : answers === "text" ? toTextResult(toText) : undefined;

/** The result as an object, for hosts that serialise it themselves. */
export const toCallToolResult = (reply: ShownReply): CallToolResult =>
  (reply.toResult ?? toStructuredResult)(reply);

const toStructuredResult: ToResult = ({ envelope, attachments }) => ({
  content: [{ type: "text", text: headOf(JSON.stringify(envelope)) }, ...attachments.map(toMedia)],
  structuredContent: envelope,
  isError: !envelope.ok,
});

const toTextResult =
  (toText: ToText): ToResult =>
  ({ envelope, attachments, text = toText(envelope) }) => ({
    content: [{ type: "text", text }, ...attachments.map(toMedia)],
    isError: !envelope.ok,
  });

/**
 * The result as JSON, with `stamp` as its last members. The envelope is serialised once and serves both as the
 * structured content and as the text.
 */
export function encodeCallToolResult(reply: ShownReply, stamp = ""): string {
  if (reply.toResult) return `${JSON.stringify(reply.toResult(reply)).slice(0, -1)}${stamp}}`;
  const { envelope, attachments } = reply;
  const json = JSON.stringify(envelope);
  const media = attachments.map((attachment) => `,${JSON.stringify(toMedia(attachment))}`).join("");
  const text = JSON.stringify(headOf(json));
  return `{"content":[{"type":"text","text":${text}}${media}],"structuredContent":${json},"isError":${!envelope.ok}${stamp}}`;
}

const toMedia = ({ kind, bytes, mime }: Attachment): MediaBlock => ({
  type: kind,
  data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  mimeType: mime,
});

function headOf(json: string): string {
  const surelyFits = json.length * MAX_BYTES_PER_UNIT <= MAX_TEXT_BYTES;
  if (surelyFits || (json.length <= MAX_TEXT_BYTES && Buffer.byteLength(json) <= MAX_TEXT_BYTES)) return json;
  // encodeInto stops before a character that does not fit whole.
  const { read } = new TextEncoder().encodeInto(json, new Uint8Array(MAX_TEXT_BYTES));
  return json.slice(0, read) + CUT_NOTE;
}
