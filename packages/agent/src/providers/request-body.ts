import type { Model, ModelRequest } from "../api-client.ts";
import type { Message } from "../messages.ts";
import type { Api } from "./http-client.ts";
import { toSendable, toSendableSchema } from "./sendable.ts";

/** The placeholder for the items of the messages in a body; no text of a person or a model contains it by chance. */
const ITEMS = "\u0000octant:items\u0000";
const QUOTED_ITEMS = JSON.stringify(ITEMS);

/** The pieces of a request's JSON, in order. */
export type EncodeBody = (request: ModelRequest, model: Model) => readonly Uint8Array[];

/**
 * Encodes the requests of one client. A conversation grows at its end, so the bytes of earlier messages are cached: a
 * request of a long session costs only its new part, and leaves no garbage of the session's size.
 */
export function createBodyEncoder(api: Api): EncodeBody {
  const encodeItems = createItemEncoder(api);
  return (request, model) => {
    const items = encodeItems(request.messages, model);
    const text = toJson(api.body(toSendableRequest(request), model, items.byteLength === 0 ? [] : [ITEMS]));
    if (items.byteLength === 0) return [Buffer.from(text)];
    const at = text.indexOf(QUOTED_ITEMS);
    const [head, tail] = [text.slice(0, at), text.slice(at + QUOTED_ITEMS.length)];
    return [Buffer.from(head), items, Buffer.from(tail)];
  };
}

const toSendableRequest = (request: ModelRequest): ModelRequest => ({
  ...request,
  tools: request.tools.map((tool) => ({ ...tool, input_schema: toSendableSchema(tool.input_schema) })),
});

/** Providers refuse half of a surrogate pair, which a text that was cut may end with. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner));

const MIN_CAPACITY_BYTES = 64 * 1024;
const COMMA = ",";

function createItemEncoder(api: Api): (messages: readonly Message[], model: Model) => Uint8Array {
  const known: Message[] = [];
  /** Where the items of each known message end. */
  const ends: number[] = [];
  let bytes = Buffer.alloc(0);
  const append = (json: string, at: number): number => {
    const length = Buffer.byteLength(json);
    if (at + length > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(MIN_CAPACITY_BYTES, (at + length) * 2));
      bytes.copy(larger, 0, 0, at);
      bytes = larger;
    }
    return at + bytes.write(json, at);
  };
  return (messages, model) => {
    let same = 0;
    while (same < known.length && known[same] === messages[same]) same++;
    if (same < known.length) {
      // Another conversation, or a compacted one. The old bytes may still be on their way to the provider.
      known.length = same;
      ends.length = same;
      bytes = Buffer.from(bytes.subarray(0, ends.at(-1) ?? 0));
    }
    for (const message of messages.slice(same)) {
      const at = ends.at(-1) ?? 0;
      const sendable = toSendable(message);
      const json = sendable ? api.toItems(sendable, model).map(toJson).join(COMMA) : "";
      known.push(message);
      ends.push(json === "" ? at : append(at === 0 ? json : COMMA + json, at));
    }
    return bytes.subarray(0, ends.at(-1) ?? 0);
  };
}
