import { AckPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { newHandle } from "@octant/core";
import { z } from "zod";
import { parseMsgPack } from "../msgpack/codec.ts";
import type { NatsAddress } from "./address.ts";
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from "./byte-channel.ts";
import { codeOf, connectNats, LEASE_MS, type NatsConnection } from "./connection.ts";
import { createLease } from "./lease.ts";
import { answerPlaceRequests } from "./place-requests.ts";
import { PLACES_STREAM, placeLeaseSubject, placeSubjects, wantedSubject } from "./subjects.ts";

const Wanted = z.object({ key: z.string().regex(/^[\w-]{1,128}$/), memory_mb: z.number().min(0) });
/** A place that a host asks for. */
export interface OfferedPlace extends z.output<typeof Wanted> {
  /** undefined when another host still has it; it is offered again. */
  take(options: TakeOptions): Promise<TakenPlace | undefined>;
  /** For another host, or later. */
  refuse(afterMs: number): void;
}

export interface TakeOptions {
  answer(operation: string, input: unknown, owner: string): Promise<unknown>;
  /** The host must end everything of the place now. */
  onLost(): void;
}

/** A place that this host has. */
export interface TakenPlace {
  readonly lease_id: string;
  isHeld(): boolean;
  writer(id: string, name: string): ByteWriter;
  reader(id: string, name: string): ByteReader;
  /** `done`: nobody wants it any more; otherwise another host gets it at once. */
  release(done: boolean): Promise<void>;
}

const EXISTS = 10013;
const FETCH_MS = 1_000;
/** Places stay unacknowledged as long as they live. */
const NO_LIMIT = -1;

/** The host's side of the work queues. */
export async function createPlaceHost(
  address: NatsAddress,
  {
    name,
    labels,
    log,
  }: { readonly name: string; readonly labels: readonly string[]; log(line: string): void },
) {
  const connection = await connectNats(address, "octant-host");
  const queues = await Promise.all(labels.map((label) => openQueue(connection, label)));
  let turn = 0;
  return {
    /** The next place that is asked for; undefined when there is none for a while. */
    async next(): Promise<OfferedPlace | undefined> {
      const queue = queues[turn++ % queues.length];
      const message = await queue?.next({ expires: FETCH_MS });
      if (!message) return undefined;
      const wanted = Wanted.safeParse(parseMsgPack(message.data));
      if (!wanted.success) {
        log(`host: an invalid request for a place was dropped: ${wanted.error.message}`);
        message.term();
        return undefined;
      }
      return {
        ...wanted.data,
        take: (options) => takePlace(connection, { ...options, name, key: wanted.data.key, message, log }),
        refuse: (afterMs) => message.nak(afterMs),
      };
    },
    close: () => connection.close(),
  };
}

async function openQueue({ js, jsm }: NatsConnection, label: string) {
  const name = `hosts-${label}`;
  try {
    await jsm.consumers.add(PLACES_STREAM, {
      durable_name: name,
      filter_subject: wantedSubject(label, "*"),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(LEASE_MS),
      max_ack_pending: NO_LIMIT,
    });
  } catch (cause) {
    if (codeOf(cause) !== EXISTS) throw cause;
  }
  return js.consumers.get(PLACES_STREAM, name);
}

interface Taking extends TakeOptions {
  readonly name: string;
  readonly key: string;
  readonly message: JsMsg;
  log(line: string): void;
}

async function takePlace(connection: NatsConnection, taking: Taking): Promise<TakenPlace | undefined> {
  const { nc } = connection;
  const { key, name, message, onLost, log } = taking;
  const lease_id = newHandle("lease", Date.now());
  let isTaken = false;
  let isReleased = false;
  const alive = setInterval(() => message.working(), LEASE_MS / 3);
  const end = () => {
    clearInterval(alive);
    served.close();
  };
  // Listens first: the hub asks as soon as it sees the lease.
  const served = answerPlaceRequests(connection, {
    lease_id,
    opened: Promise.resolve().then(() => opening),
    isHeld: () => lease.isHeld(),
    answer: taking.answer,
    log,
  });
  const opening = createLease({
    connection,
    subject: placeLeaseSubject(key),
    self: { worker_id: lease_id, host: name, pid: process.pid },
    once: true,
    onTaken() {
      isTaken = true;
    },
    onLost() {
      end();
      if (!isReleased) onLost();
    },
  });
  const lease = await opening;
  if (!isTaken) {
    end();
    await lease.close();
    return undefined;
  }
  const subjects = placeSubjects(lease_id);
  return {
    lease_id,
    isHeld: lease.isHeld,
    writer: (id, stream) => createByteWriter({ nc, subject: subjects.bytes(id, stream) }),
    reader: (id, stream) => createByteReader({ nc, subject: subjects.bytes(id, stream) }),
    async release(done) {
      isReleased = true;
      // After the lease was lost, another host may have the message already.
      const isMine = lease.isHeld();
      end();
      // First the lease: the next host must not find it taken.
      await lease.close();
      if (done) message.ack();
      else if (isMine) message.nak();
    },
  };
}
