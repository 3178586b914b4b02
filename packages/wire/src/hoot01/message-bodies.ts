import { ToolError } from "@octant/core";
import { type ResponseEnvelope, refusal } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { ClientReady } from "../ready.ts";
import { MAX_BODY_BYTES, type Message } from "./frames.ts";

export function parseBody(contentType: Message["contentType"], body: Uint8Array): unknown {
  if (contentType === "msgpack") return parseMsgPack(body);
  throw new ToolError("UNSUPPORTED", `content type ${contentType} is not supported here; send 1 (MsgPack)`, {
    what: `content type ${contentType}`,
    how: "send content type 1 (MsgPack); JSON is spoken at the MCP edges",
  });
}

export function parseReady(value: unknown): ClientReady {
  const parsed = ClientReady.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw invalid("body", issues.join("; "));
}

/** An oversized answer becomes a TOO_LARGE error. */
export function encodeBody(response: ResponseEnvelope): Uint8Array {
  const body = encodeMsgPack(response);
  const isEnd = response.kind === "stream_end";
  const final = isEnd ? response.response : response;
  if (body.length <= MAX_BODY_BYTES || !("meta" in final)) return body;
  const message = `the answer has ${body.length} bytes; a body has at most ${MAX_BODY_BYTES}: ask for less`;
  const { tool, trace_id } = final.meta;
  const tooLarge = new ToolError("TOO_LARGE", message, { limit: MAX_BODY_BYTES, actual: body.length });
  const refused = refusal(tooLarge, trace_id, tool);
  return encodeMsgPack(isEnd ? { ...response, response: refused } : refused);
}

export const isZero = (requestId: Uint8Array): boolean => requestId.every((byte) => byte === 0);

export const invalid = (path: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", `malformed HOOT01 message: ${path}: ${message}`, {
    issues: [{ path, message }],
  });
