import { type BinaryPart, newHandle, ToolError } from "@octant/core";
import type { FinalResponse, RequestEnvelope, ResponseEnvelope } from "./envelopes.ts";
import { encodeMsgPack } from "./msgpack/codec.ts";
import type { CallQuestions } from "./questions.ts";
import type { Window } from "./window.ts";

/** The destination of one request's replies, on one connection after another. */
export interface ReplyChannel {
  /** Waits while the reader's queue is full, and while the reader is away; rejects when it stays away, or with the signal's reason. */
  send(content: "msgpack" | "raw", body: Uint8Array, signal: AbortSignal): Promise<void>;
  /** How far a stream may be ahead of its reader. */
  readonly window: Window;
  /** Whether chunks also wait for the window, not only binary parts. */
  readonly isPaced: boolean;
  /** Where answers of the person behind the caller arrive. */
  readonly questions: CallQuestions;
  /** The time without an acknowledgement after which the end of a call no longer waits for its reader. */
  readonly patienceMs: number;
  /** Calls back when the reader has sent its request again: replies on the way to it may be lost. */
  onRetry(listener: () => void): void;
}

/** Sends the bytes of an answer once more, to a reader that has missed their end. */
export type RepeatBinary = (channel: ReplyChannel, signal: AbortSignal) => Promise<void>;

/** Chunks that wait for a slow reader; beyond this the oldest are dropped and counted. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
/** A reader of bytes that acknowledges nothing for this long is gone. */
const MAX_SILENCE_MS = 150_000;

/** Starts with its first chunk, or at once where the request asked for a stream. */
export function openStream(
  { request: { tool }, stream }: RequestEnvelope,
  channel: ReplyChannel,
  signal: AbortSignal,
) {
  const { window, isPaced } = channel;
  /** Chunks that were not sent yet, and those that were sent but not acknowledged, where the reader does so. */
  const queue: Uint8Array[] = [];
  const unacknowledged: Uint8Array[] = [];
  const urgent: Uint8Array[] = [];
  const asked = new Map<object, Uint8Array>();
  const over = new AbortController();
  let head: { readonly stream_id: string; readonly body: Uint8Array } | undefined;
  let isHeadSent = false;
  let queuedBytes = 0;
  let seq = 0;
  let dropped = 0;
  let pumping: Promise<void> | undefined;
  let onProgress = () => {};

  const number = (chunk: object): Uint8Array => {
    head ??= toHead(tool);
    return encode({ kind: "stream_chunk", stream_id: head.stream_id, seq: seq++, chunk });
  };
  const take = (): Uint8Array | undefined => {
    if (head && !isHeadSent) {
      isHeadSent = true;
      return head.body;
    }
    const question = urgent.shift();
    const next = question ?? (!isPaced || window.isOpen ? queue.shift() : undefined);
    if (!next) return undefined;
    window.sent();
    if (question) return question;
    queuedBytes -= next.length;
    if (isPaced) unacknowledged.push(next);
    return next;
  };
  /** One message is on its way at a time, so that they stay in order. */
  const pump = async () => {
    try {
      for (let next = take(); next; next = take()) {
        await channel.send("msgpack", next, over.signal);
        onProgress();
      }
    } catch {
      // The reader stays away, or the end does not wait for it any longer.
      dropped += 1;
    } finally {
      pumping = undefined;
      onProgress();
    }
  };
  const flush = () => {
    pumping ??= Promise.resolve().then(pump);
  };
  const add = (body: Uint8Array) => {
    queue.push(body);
    queuedBytes += body.length;
    while (queuedBytes > MAX_QUEUED_BYTES && queue.length > 1) {
      queuedBytes -= queue.shift()?.length ?? 0;
      dropped += 1;
    }
    flush();
  };
  window.onOpened(() => {
    unacknowledged.splice(0, unacknowledged.length - window.ahead);
    onProgress();
    flush();
  });
  channel.onRetry(() => {
    isHeadSent = false;
    queue.unshift(...unacknowledged);
    for (const body of unacknowledged.splice(0)) queuedBytes += body.length;
    window.reset();
    flush();
  });
  /** Resolves when everything was sent, or the reader has not moved for its time. */
  const drained = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let timer = setTimeout(resolve, channel.patienceMs);
    onProgress = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, channel.patienceMs);
      if (!pumping && queue.length + urgent.length === 0) resolve();
    };
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
    onProgress();
    await promise;
    clearTimeout(timer);
    dropped += queue.length;
    queue.length = 0;
    over.abort();
    await pumping;
  };

  if (stream) {
    head = toHead(tool);
    flush();
  }
  return {
    chunk: (chunk: object): void => add(number(chunk)),
    /** Waits for no window: the work waits for its answer. A repeated question has its old number. */
    question(chunk: object): void {
      const body = asked.get(chunk) ?? number(chunk);
      asked.set(chunk, body);
      urgent.push(body);
      flush();
    },
    /** Sends the bytes of an answer; returns how to do so again. */
    async binary(part: BinaryPart): Promise<RepeatBinary> {
      if (head) await drained();
      head = toHead(tool, part, head?.stream_id);
      const { body } = head;
      isHeadSent = true;
      const repeat: RepeatBinary = (to, ending) => sendBinary(body, part, to, ending);
      await repeat(channel, signal);
      return repeat;
    },
    /** The last reply: the response itself when nothing was streamed. */
    async end(response: FinalResponse): Promise<ResponseEnvelope> {
      if (!head) return response;
      await drained();
      return { kind: "stream_end", stream_id: head.stream_id, chunks: seq, dropped, response };
    },
  };
}

/** No byte is dropped; a reader that comes back on another connection gets all of them again. */
async function sendBinary(
  head: Uint8Array,
  part: BinaryPart,
  channel: ReplyChannel,
  signal: AbortSignal,
): Promise<void> {
  let round = new AbortController();
  channel.onRetry(() => round.abort());
  for (;;) {
    round = new AbortController();
    try {
      channel.window.reset();
      return await sendOnce(head, part, channel, AbortSignal.any([signal, round.signal]));
    } catch (cause) {
      if (signal.aborted || !round.signal.aborted) throw cause;
    }
  }
}

async function sendOnce(head: Uint8Array, part: BinaryPart, channel: ReplyChannel, signal: AbortSignal) {
  await channel.send("msgpack", head, signal);
  for await (const bytes of part.read()) {
    await channel.window.opened(signal, MAX_SILENCE_MS, silent);
    channel.window.sent();
    await channel.send("raw", bytes, signal);
  }
}

const silent = () =>
  new ToolError(
    "INTERRUPTED",
    `the bytes were not acknowledged for ${MAX_SILENCE_MS / 1_000} s; call again, and acknowledge them`,
    {},
  );

function toHead(tool: string, part?: BinaryPart, stream_id: string = newHandle("stream", Date.now())) {
  const body = encode({
    kind: "stream_start",
    stream_id,
    tool,
    rule: part ? "wait" : "drop_oldest",
    ...(part && { bytes: part.size, mime: part.mime }),
  });
  return { stream_id, body };
}

const encode = (response: ResponseEnvelope): Uint8Array => encodeMsgPack(response);
