import { ToolError } from "@octant/core";

/** The first frame of every message: protocol and version. */
const MAGIC = Buffer.from("HOOT01");

export const COMMANDS = { ready: 1, request: 2, reply: 3, heartbeat: 4, disconnect: 5 } as const;
export type Command = keyof typeof COMMANDS;

export const CONTENT_TYPES = { empty: 0, msgpack: 1, raw: 2, json: 3 } as const;
export type ContentType = keyof typeof CONTENT_TYPES;

const REQUEST_ID_BYTES = 16;
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
const FRAMES = 7;
const MAX_IDENTITIES = 8;
const MAX_SERVICE_BYTES = 128;
const MAX_TRACEPARENT_BYTES = 128;

/** One HOOT01 message. Heartbeats and other messages that answer nothing have the zero request id. */
export interface Message {
  readonly command: Command;
  readonly contentType: ContentType;
  readonly requestId: Uint8Array;
  readonly service: string;
  readonly traceparent: string;
  readonly body: Uint8Array;
}

export interface RoutedMessage {
  /** The frames that a ROUTER prepended; a reply is sent with the same ones. */
  readonly identities: readonly Uint8Array[];
  readonly message: Message;
}

export const NO_REQUEST_ID = Buffer.alloc(REQUEST_ID_BYTES);
const EMPTY = Buffer.alloc(0);

/** The seven frames of a message; empty fields may be omitted from the argument. */
export function encodeFrames({
  command,
  contentType = "empty",
  requestId = NO_REQUEST_ID,
  service = "",
  traceparent = "",
  body = EMPTY,
}: Partial<Message> & Pick<Message, "command">): Uint8Array[] {
  return [
    MAGIC,
    toFrame(COMMANDS[command]),
    toFrame(CONTENT_TYPES[contentType]),
    requestId,
    Buffer.from(service),
    Buffer.from(traceparent),
    body,
  ];
}

/** Throws INVALID_ARGUMENT, or TOO_LARGE for the body, unless the frames are exactly one message. */
export function parseFrames(
  frames: readonly Uint8Array[],
  { routed }: { readonly routed: boolean },
): RoutedMessage {
  const start = findMagic(frames, routed ? 1 : 0);
  const found = frames.length - start;
  if (found !== FRAMES)
    throw malformed("frames", `a message has ${FRAMES} frames from HOOT01 on, not ${found}`);
  return { identities: frames.slice(0, start), message: parseMessage(frames.slice(start)) };
}

export function findMagic(frames: readonly Uint8Array[], from: number): number {
  for (let at = from; at <= MAX_IDENTITIES && at < frames.length; at++) {
    const frame = frames[at];
    if (frame && MAGIC.equals(frame)) return at;
  }
  throw malformed("frame 0", "the first frame is not HOOT01");
}

function parseMessage(frames: readonly Uint8Array[]): Message {
  const [
    ,
    command = EMPTY,
    content = EMPTY,
    requestId = EMPTY,
    service = EMPTY,
    trace = EMPTY,
    body = EMPTY,
  ] = frames;
  const message: Message = {
    command: parseCode(command, COMMAND_OF, "frame 1", "command"),
    contentType: parseCode(content, CONTENT_TYPE_OF, "frame 2", "content type"),
    requestId: parseRequestId(requestId),
    service: parseText(service, MAX_SERVICE_BYTES, "frame 4"),
    traceparent: parseText(trace, MAX_TRACEPARENT_BYTES, "frame 5"),
    body,
  };
  if (body.length > MAX_BODY_BYTES) {
    const text = `frame 6: a body has at most ${MAX_BODY_BYTES} bytes; stream larger content`;
    throw new ToolError("TOO_LARGE", text, { limit: MAX_BODY_BYTES, actual: body.length });
  }
  if (message.contentType === "empty" && body.length > 0)
    throw malformed("frame 6", "content type 0 (Empty) has a body without bytes");
  return message;
}

function parseCode<T>(frame: Uint8Array, names: ReadonlyMap<number, T>, path: string, what: string): T {
  if (frame.length !== 2) throw malformed(path, `the ${what} has 2 bytes, not ${frame.length}`);
  const code = ((frame[0] ?? 0) << 8) | (frame[1] ?? 0);
  const name = names.get(code);
  if (name === undefined)
    throw malformed(path, `unknown ${what} ${code}; known: ${[...names.keys()].join(", ")}`);
  return name;
}

function parseRequestId(frame: Uint8Array): Uint8Array {
  if (frame.length === REQUEST_ID_BYTES) return frame;
  throw malformed("frame 3", `a request id has ${REQUEST_ID_BYTES} bytes, not ${frame.length}`);
}

function parseText(frame: Uint8Array, maxBytes: number, path: string): string {
  if (frame.length === 0) return "";
  if (frame.length > maxBytes) throw malformed(path, `at most ${maxBytes} bytes, not ${frame.length}`);
  try {
    return TEXT.decode(frame);
  } catch (cause) {
    throw malformed(path, "not UTF-8", cause);
  }
}

const TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The request id as the key of a map. */
export const toKey = (requestId: Uint8Array): string =>
  Buffer.from(requestId.buffer, requestId.byteOffset, requestId.length).toString("latin1");

/** The request id of otherwise malformed frames, so that the sender learns which message was refused. */
export function findRequestId(frames: readonly Uint8Array[]): Uint8Array {
  const start = frames.findIndex((frame) => MAGIC.equals(frame));
  const id = start < 0 ? undefined : frames[start + 3];
  return id?.length === REQUEST_ID_BYTES ? id : NO_REQUEST_ID;
}

const reverse = <K extends string>(codes: Readonly<Record<K, number>>): ReadonlyMap<number, K> =>
  // Object.entries widens the keys to string.
  new Map((Object.entries(codes) as [K, number][]).map(([name, code]) => [code, name]));

const COMMAND_OF = reverse(COMMANDS);
const CONTENT_TYPE_OF = reverse(CONTENT_TYPES);

const toFrame = (code: number): Buffer => Buffer.from([code >> 8, code & 0xff]);

const malformed = (path: string, message: string, cause?: unknown) =>
  new ToolError(
    "INVALID_ARGUMENT",
    `malformed HOOT01 message: ${path}: ${message}; docs/wire.md has the frame table`,
    { issues: [{ path, message }] },
    { cause },
  );
