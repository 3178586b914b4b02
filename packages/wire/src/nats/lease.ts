import { headers, type Msg } from "@nats-io/transport-node";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { codeOf, LEASE_MS, type NatsConnection, NO_MESSAGE, WRONG_LAST_SEQUENCE } from "./connection.ts";
import { LEASES_STREAM } from "./subjects.ts";

export const RENEW_MS = LEASE_MS / 4;

/** The worker that has a project. */
export interface Holder {
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
}

/** undefined for a lease that was released. */
export const parseHolder = ({ data }: Pick<Msg, "data">): Holder | undefined =>
  // Workers wrote it.
  data.length > 0 ? (parseMsgPack(data) as Holder) : undefined;

interface LeaseOptions {
  readonly connection: NatsConnection;
  readonly subject: string;
  readonly self: Holder;
  /** Takes it now or never; by default it stands by and takes it when it is free. */
  readonly once?: boolean;
  /** The project is this worker's from now on; `previous` had it before. */
  readonly onTaken: (previous: Holder | undefined) => void;
  /** Another worker has it, or may have it. */
  readonly onLost: () => void;
}

/**
 * One worker at a time has a project: the one whose entry in the bucket is the last. An entry is replaced only with the
 * sequence number of the one before, and ends by itself when its worker does not renew it.
 */
export async function createLease({ connection, subject, self, once, onTaken, onLost }: LeaseOptions) {
  const { nc, js, jsm } = connection;
  let revision: number | undefined;
  let renewedAt = 0;
  let holder: Holder | undefined;
  let isClosed = false;
  let hasLooked = false;
  let looking: Promise<void> | undefined;

  /** Measured from before the renewal was sent, so it ends here before it ends at the server. */
  const isHeld = () => revision !== undefined && performance.now() - renewedAt < LEASE_MS;
  const write = async (expected: number, data: Uint8Array) => {
    const sentAt = performance.now();
    const given = headers();
    if (data.length === 0) given.set("KV-Operation", "DEL");
    const options = { headers: given, expect: { lastSubjectSequence: expected }, timeout: RENEW_MS };
    const { seq } = await js.publish(subject, data, options);
    return { seq, sentAt };
  };
  const lose = () => {
    if (revision === undefined) return;
    revision = undefined;
    onLost();
  };
  const renew = async (held: number) => {
    try {
      const { seq, sentAt } = await write(held, encodeMsgPack(self));
      if (!isHeld()) return lose();
      revision = seq;
      renewedAt = sentAt;
    } catch (cause) {
      // A server that does not answer may do so in time.
      if (codeOf(cause) === WRONG_LAST_SEQUENCE || !isHeld()) lose();
    }
  };
  const take = async () => {
    const last = await findLast(jsm, subject);
    const found = last && parseHolder(last);
    if (found) {
      holder = found;
      return;
    }
    const { seq, sentAt } = await write(last?.seq ?? 0, encodeMsgPack(self));
    revision = seq;
    renewedAt = sentAt;
    const previous = holder;
    holder = self;
    onTaken(previous);
  };
  const look = async () => {
    if (isClosed || (once && hasLooked && revision === undefined)) return;
    hasLooked = true;
    // Another worker was faster, or the server is away: the next look is soon.
    await (revision === undefined ? take().catch(() => {}) : renew(revision));
  };
  const lookNow = () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const timer = setInterval(lookNow, RENEW_MS);
  const given = nc.subscribe(subject, {
    callback: (_, message) => {
      if (message.data.length === 0) void lookNow();
    },
  });
  await lookNow();
  return {
    isHeld,
    /** The worker that has the project, as far as is known. */
    holder: () => holder,
    /** Releases it, so that another worker need not wait for its end. */
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(timer);
      given.unsubscribe();
      await looking;
      if (revision !== undefined) await write(revision, new Uint8Array()).catch(() => {});
      revision = undefined;
    },
  };
}

export async function findLast(jsm: NatsConnection["jsm"], subject: string) {
  try {
    return (await jsm.streams.getMessage(LEASES_STREAM, { last_by_subj: subject })) ?? undefined;
  } catch (cause) {
    if (codeOf(cause) === NO_MESSAGE) return undefined;
    throw cause;
  }
}
