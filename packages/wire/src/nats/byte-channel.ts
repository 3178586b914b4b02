import { Readable, Writable } from "node:stream";
import type { Msg, NatsConnection } from "@nats-io/transport-node";

/**
 * A stream of bytes from one process to another over core NATS, which may drop messages: parts are numbered, the reader
 * acknowledges what it has received and what it has consumed, and the writer sends again what got lost. Both survive a
 * restart of the NATS server.
 */
export interface ChannelOptions {
  readonly nc: NatsConnection;
  /** Parts are published here, acknowledgements at `<subject>.ack`. */
  readonly subject: string;
}

const PART_BYTES = 64 * 1024;
/** Parts that the reader has not consumed yet. */
const WINDOW_PARTS = 16;
const FIRST_RETRY_MS = 500;
/** Several acknowledgements may report the same gap. */
const RESEND_MS = 100;
const MAX_RETRY_MS = 4_000;
/** The number of a part and its kind; then its bytes. */
const HEAD_BYTES = 5;
const DATA = 0;
const END = 1;
/** An acknowledgement: the next expected number, the number of consumed parts, and whether a part was unexpected. */
const ACK_BYTES = 9;

export interface ByteWriter extends Writable {
  /** Stops sending without informing the reader. */
  close(): void;
}

export function createByteWriter({ nc, subject }: ChannelOptions): ByteWriter {
  /** Sent and not received, oldest first; the first has the number `received`. */
  let sent: Buffer[] = [];
  let received = 0;
  let consumed = 0;
  let next = 0;
  let retryMs = FIRST_RETRY_MS;
  let resentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let onRoom: (() => void) | undefined;
  let onReceived: (() => void) | undefined;
  let isClosed = false;

  const publish = (part: Buffer) => {
    if (!nc.isClosed()) nc.publish(subject, part);
  };
  /** One part is enough to learn from the acknowledgement what else is missing. */
  const probe = () => {
    timer = undefined;
    const [oldest] = sent;
    if (oldest) publish(oldest);
    else if (onRoom) publish(toPart(next - 1, DATA));
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
    watch();
  };
  const watch = () => {
    clearTimeout(timer);
    timer = sent.length > 0 || onRoom ? setTimeout(probe, retryMs) : undefined;
  };
  const send = (kind: number, bytes?: Uint8Array) => {
    if (isClosed) return;
    const part = toPart(next++, kind, bytes);
    sent.push(part);
    publish(part);
    if (!timer) watch();
  };
  const hasRoom = () => isClosed || next - consumed < WINDOW_PARTS;
  const room = () => {
    if (hasRoom()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    onRoom = resolve;
    if (!timer) watch();
    return promise;
  };
  const take = (data: Uint8Array) => {
    if (data.length !== ACK_BYTES) return;
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    const [nowReceived, nowConsumed] = [view.getUint32(0), view.getUint32(4)];
    if (nowReceived > next || nowReceived < received || nowConsumed < consumed) return;
    if (nowReceived > received || nowConsumed > consumed) retryMs = FIRST_RETRY_MS;
    sent = sent.slice(nowReceived - received);
    received = nowReceived;
    consumed = nowConsumed;
    const isUnexpected = view.getUint8(8) === 1;
    if (isUnexpected && performance.now() - resentAt > RESEND_MS) {
      resentAt = performance.now();
      for (const part of sent) publish(part);
    }
    if (onRoom && hasRoom()) {
      onRoom();
      onRoom = undefined;
    }
    if (sent.length === 0) onReceived?.();
    watch();
  };
  const acknowledgements = nc.subscribe(`${subject}.ack`, { callback: (_, { data }) => take(data) });
  const close = () => {
    isClosed = true;
    clearTimeout(timer);
    timer = undefined;
    sent = [];
    acknowledgements.unsubscribe();
    onRoom?.();
    onRoom = undefined;
    onReceived?.();
  };
  const writeAll = async (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += PART_BYTES) {
      await room();
      if (stream.destroyed) return;
      send(DATA, chunk.subarray(at, at + PART_BYTES));
    }
  };
  const stream = new Writable({
    highWaterMark: PART_BYTES,
    write(chunk: Buffer, _encoding, done) {
      writeAll(chunk).then(() => done(), done);
    },
    final(done) {
      onReceived = () => {
        onReceived = undefined;
        done();
      };
      send(END);
      if (isClosed) onReceived();
    },
    destroy(cause, done) {
      close();
      done(cause);
    },
  });
  return Object.assign(stream, { close });
}

export interface ByteReader extends Readable {
  /** Until it is called, parts that arrive twice are acknowledged too. */
  close(): void;
}

export function createByteReader({ nc, subject }: ChannelOptions): ByteReader {
  let expected = 0;
  let consumed = 0;
  let wants = false;
  const waiting: (Buffer | null)[] = [];
  const acknowledge = (isUnexpected: boolean) => {
    if (nc.isClosed()) return;
    const ack = Buffer.alloc(ACK_BYTES);
    ack.writeUInt32BE(expected, 0);
    ack.writeUInt32BE(consumed, 4);
    ack.writeUInt8(isUnexpected ? 1 : 0, 8);
    nc.publish(`${subject}.ack`, ack);
  };
  const pass = () => {
    while (wants && waiting.length > 0) {
      const part = waiting.shift() ?? null;
      consumed += 1;
      wants = stream.push(part) && part !== null;
    }
  };
  const take = ({ data }: Msg) => {
    if (data.length < HEAD_BYTES) return;
    const part = Buffer.from(data.buffer, data.byteOffset, data.length);
    const number = part.readUInt32BE(0);
    if (number !== expected || waiting.length >= WINDOW_PARTS) return acknowledge(true);
    expected += 1;
    waiting.push(part.readUInt8(4) === END ? null : part.subarray(HEAD_BYTES));
    pass();
    acknowledge(false);
  };
  const parts = nc.subscribe(subject, { callback: (_, message) => take(message) });
  const stream = new Readable({
    read() {
      wants = true;
      const before = consumed;
      pass();
      if (consumed > before) acknowledge(false);
    },
    destroy(cause, done) {
      // The end of a read stream destroys it, and the writer may not know yet that it was received.
      if (cause) parts.unsubscribe();
      done(cause);
    },
  });
  return Object.assign(stream, { close: () => parts.unsubscribe() });
}

function toPart(number: number, kind: number, bytes: Uint8Array = new Uint8Array()): Buffer {
  const part = Buffer.alloc(HEAD_BYTES + bytes.length);
  part.writeUInt32BE(number, 0);
  part.writeUInt8(kind, 4);
  part.set(bytes, HEAD_BYTES);
  return part;
}
