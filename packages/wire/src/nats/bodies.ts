import { randomUUID } from "node:crypto";
import { ReadableStream } from "node:stream/web";
import type { ObjectStore } from "@nats-io/obj";
import { headers, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { type BinaryPart, ToolError } from "@octant/core";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";

/** NATS rejects messages above 1 MiB; larger bodies go to the object store, and the message refers to them. */
const MAX_INLINE_BYTES = 512 * 1024;

export const HEADERS = {
  /** The name of the body in the object store. */
  body: "Octant-Body",
  /** The name of the bytes beside the call or its answer. */
  binary: "Octant-Binary",
  binarySize: "Octant-Binary-Size",
  binaryMime: "Octant-Binary-Mime",
  traceparent: "traceparent",
  /** The job's owner and action, percent-encoded. */
  owner: "Octant-Owner",
  action: "Octant-Action",
  /** Identifies a call in a cancellation. */
  requestId: "Octant-Request-Id",
  /** How many chunks a call has emitted. */
  chunks: "Octant-Chunks",
  /** The worker does not have the project any more, and did not run the call. */
  notMine: "Octant-Not-Mine",
} as const;

export interface Encoded {
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

export const encodeBody = (value: unknown, bodies: ObjectStore, given?: MsgHdrs): Promise<Encoded> =>
  placeBody(encodeMsgPack(value), bodies, given);

/** In the message itself, or in the object store where it is too large for that. */
export async function placeBody(
  data: Uint8Array,
  bodies: ObjectStore,
  given: MsgHdrs = headers(),
): Promise<Encoded> {
  if (data.length <= MAX_INLINE_BYTES) return { data, headers: given };
  if (data.length > MAX_BODY_BYTES)
    throw new ToolError("TOO_LARGE", `a body has at most ${MAX_BODY_BYTES} bytes; ask for less`, {
      limit: MAX_BODY_BYTES,
      actual: data.length,
    });
  const name = randomUUID();
  await bodies.putBlob({ name }, data);
  given.set(HEADERS.body, name);
  return { data: new Uint8Array(), headers: given };
}

/** A body that is read only once may be deleted with it. */
export async function parseBody(
  message: Pick<Msg, "data" | "headers">,
  bodies: ObjectStore,
  { once }: { readonly once: boolean },
): Promise<unknown> {
  const name = message.headers?.get(HEADERS.body);
  if (!name) return parseMsgPack(message.data);
  const data = await bodies.getBlob(name);
  if (!data) throw new ToolError("NOT_FOUND", "the body is no longer in the object store", { id: name });
  if (data.length > MAX_BODY_BYTES)
    throw new ToolError("TOO_LARGE", "the body is too large", { limit: MAX_BODY_BYTES });
  if (once) await bodies.delete(name);
  return parseMsgPack(data);
}

export async function putBinary(
  { mime, size, read }: BinaryPart,
  bodies: ObjectStore,
  into: MsgHdrs,
): Promise<void> {
  const name = randomUUID();
  // The same class as the global one, which the object store's types mean.
  await bodies.put({ name }, ReadableStream.from(read()) as Parameters<ObjectStore["put"]>[1]);
  into.set(HEADERS.binary, name);
  into.set(HEADERS.binarySize, String(size));
  into.set(HEADERS.binaryMime, mime);
}

export function findBinary(given: MsgHdrs | undefined, bodies: ObjectStore): BinaryPart | undefined {
  const name = given?.get(HEADERS.binary);
  if (!given || !name) return undefined;
  return {
    mime: given.get(HEADERS.binaryMime),
    size: Number(given.get(HEADERS.binarySize)),
    read: () => readBinary(name, bodies),
  };
}

async function* readBinary(name: string, bodies: ObjectStore): AsyncIterable<Uint8Array> {
  const found = await bodies.get(name);
  if (!found) throw new ToolError("NOT_FOUND", "the bytes are no longer in the object store", { id: name });
  yield* found.data;
  const failure = await found.error;
  if (failure)
    throw new ToolError("UPSTREAM_ERROR", `the bytes did not arrive whole: ${failure.message}`, {});
  await bodies.delete(name);
}
