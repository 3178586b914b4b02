import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpRefusal, refuse } from "./refusals.ts";

/** Passes the posted JSON to `take`; a body that is too long or not JSON is refused here. */
export function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  take: (value: unknown) => void,
  parse: (text: string) => unknown = JSON.parse,
): void {
  const { "content-type": type, "content-length": announced = 0 } = request.headers;
  const refusal = isJson(type) ? Number(announced) > maxBytes && tooLarge(maxBytes) : NOT_JSON;
  if (refusal) {
    refuse(response, refusal);
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else refuse(response, tooLarge(maxBytes));
  });
  request.once("end", () => {
    if (length > maxBytes) return;
    let value: unknown;
    try {
      value = parse(Buffer.concat(chunks).toString());
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : "not JSON";
      refuse(response, { status: 400, code: PARSE_ERROR, message: `Parse error: ${reason}` });
      return;
    }
    take(value);
  });
}

/** The JSON-RPC code. */
const PARSE_ERROR = -32_700;
/** The rest of the body is not read. */
const LEAVE = { connection: "close" };

const NOT_JSON: HttpRefusal = {
  status: 415,
  message: "Unsupported Media Type: Content-Type must be application/json",
  headers: LEAVE,
};

const tooLarge = (maxBytes: number): HttpRefusal => ({
  status: 413,
  message: `Payload Too Large: a message may have ${maxBytes} bytes`,
  headers: LEAVE,
});

const isJson = (type: string | undefined) => /^application\/json *(?:;|$)/i.test(type ?? "");
