import { newHandle, orAborted, ToolError } from "@octant/core";
import { encodeMsgPack } from "../msgpack/codec.ts";
import type { NatsAddress } from "./address.ts";
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from "./byte-channel.ts";
import { codeOf, connectNats, LEASE_MS, type NatsConnection } from "./connection.ts";
import { openKeptObjects } from "./kept-objects.ts";
import { findLast, type Holder, parseHolder } from "./lease.ts";
import { createPlaceRequests, type PlaceRequests } from "./place-requests.ts";
import { PLACES_STREAM, placeLeaseSubject, placeSubjects, roomSubject, wantedSubject } from "./subjects.ts";

/** The requirements of a place: hosts take only work that they have room for. */
export interface PlaceNeeds {
  /** Names the place: one host at a time has it. */
  readonly key: string;
  /** Only hosts with this label take it. */
  readonly label: string;
  readonly memory_mb: number;
}

/** A place while one host has it. */
export interface HeldPlace extends Pick<PlaceRequests, "ask"> {
  /** Differs whenever another host takes the place; a host that lost it and is back has the same one. */
  readonly lease_id: string;
  /** The name of the host's machine. */
  readonly host: string;
  /** Aborted when the host no longer has it. */
  readonly lost: AbortSignal;
  writer(id: string, name: string): ByteWriter;
  reader(id: string, name: string): ByteReader;
}

/** A place that is asked for until it is closed. */
export interface WantedPlace {
  /** The place on its host; undefined while no host has it. */
  now(): HeldPlace | undefined;
  /** Waits for a host that takes it. */
  current(signal?: AbortSignal): Promise<HeldPlace>;
  /** The host ends it and is free for another one. */
  close(): Promise<void>;
  /** The place stays for another hub. */
  leave(): void;
}

const ALREADY_WANTED = 10077;
/** The queue may have lost it with its server. */
const WANT_AGAIN_MS = 5_000;
const CLOSE_MS = 5_000;

export type PlacesClient = Awaited<ReturnType<typeof createPlacesClient>>;

/** Asks hosts for places, through work queues of a NATS server. */
export async function createPlacesClient(address: NatsAddress) {
  const connection = await connectNats(address, "octant-hub");
  /** Changes with every start of the hub: places of an earlier start run commands that nobody waits for. */
  const owner = newHandle("hub", Date.now());
  const all = new Set<Awaited<ReturnType<typeof wantPlace>>>();
  return {
    async want(needs: PlaceNeeds): Promise<WantedPlace> {
      const { now, current, close, leave } = await wantPlace(connection, owner, needs);
      const one = { now, current, close, leave };
      all.add(one);
      return {
        now,
        current,
        leave() {
          all.delete(one);
          leave();
        },
        async close() {
          all.delete(one);
          await close();
        },
      };
    },
    /** Asks all hubs, this one included, to give up a place with this label that nobody uses. */
    askForRoom: (label: string): void => connection.nc.publish(roomSubject(label)),
    onAskedForRoom(listener: (label: string) => void): void {
      connection.nc.subscribe(roomSubject("*"), {
        callback: (_, { subject }) => listener(subject.slice(subject.lastIndexOf(".") + 1)),
      });
    },
    /** The store for files that must outlive this hub and its disk. */
    openKeptObjects: () => openKeptObjects(connection),
    /** The places stay: another hub, or this one after a restart, may want them. */
    async close(): Promise<void> {
      for (const { leave } of all) leave();
      await connection.close();
    },
  };
}

async function wantPlace(connection: NatsConnection, owner: string, needs: PlaceNeeds) {
  const { nc, js, jsm } = connection;
  const { key, label, memory_mb } = needs;
  const subject = wantedSubject(label, key);
  let held: { readonly place: HeldPlace; readonly losing: AbortController } | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let found = Promise.withResolvers<void>();
  let isClosed = false;
  let times = 0;

  const lose = (reason: string) => {
    clearTimeout(expiry);
    held?.losing.abort(new ToolError("INTERRUPTED", reason, {}));
    held = undefined;
  };
  const take = (holder: Holder | undefined) => {
    if (held && holder?.worker_id !== held.place.lease_id) lose(lostText(held.place.host, "gave it up"));
    if (!holder || isClosed) return;
    clearTimeout(expiry);
    expiry = setTimeout(() => held && lose(lostText(held.place.host, "no longer answers")), LEASE_MS);
    if (held) return;
    const losing = new AbortController();
    times += 1;
    // The host of a lease that is back has commands of before, for which nobody waits any more: for another owner it
    // ends them.
    held = { losing, place: toPlace(connection, `${owner}-${times}`, holder, losing.signal) };
    found.resolve();
    found = Promise.withResolvers();
  };
  const leases = nc.subscribe(placeLeaseSubject(key), {
    callback: (_, message) => take(parseHolder(message)),
  });
  const want = async () => {
    try {
      await js.publish(subject, encodeMsgPack({ key, memory_mb }));
    } catch (cause) {
      // The next attempt is soon.
      if (codeOf(cause) !== ALREADY_WANTED) return;
    }
  };
  const last = await findLast(jsm, placeLeaseSubject(key));
  if (last && !held) take(parseHolder(last));
  await want();
  const again = setInterval(() => void (held ?? want()), WANT_AGAIN_MS);
  const leave = () => {
    isClosed = true;
    clearInterval(again);
    leases.unsubscribe();
    lose("the place was closed");
  };
  return {
    leave,
    now: () => held?.place,
    async current(signal?: AbortSignal): Promise<HeldPlace> {
      while (!held) await (signal ? orAborted(found.promise, signal) : found.promise);
      return held.place;
    },
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(again);
      const place = held?.place;
      try {
        if (place) await place.ask("close", {}, AbortSignal.timeout(CLOSE_MS));
        else await withdraw(connection, subject);
      } catch {
        // A host that does not hear it notices that no hub asks for the place any more.
      }
      leave();
    },
  };
}

/** Withdraws the request for a place that no host has taken yet. */
async function withdraw({ jsm }: NatsConnection, subject: string): Promise<void> {
  const waiting = await jsm.streams.getMessage(PLACES_STREAM, { last_by_subj: subject });
  if (waiting) await jsm.streams.deleteMessage(PLACES_STREAM, waiting.seq);
}

function toPlace(
  connection: NatsConnection,
  owner: string,
  { worker_id: lease_id, host }: Holder,
  lost: AbortSignal,
): HeldPlace {
  const { nc } = connection;
  const subjects = placeSubjects(lease_id);
  const { ask } = createPlaceRequests(connection, { lease_id, owner, lost });
  const atLoss = <S extends ByteReader | ByteWriter>(stream: S): S => {
    const end = () => {
      stream.close();
      stream.destroy(lost.reason);
    };
    // Nobody may be listening when the place is lost.
    stream.on("error", () => {});
    lost.addEventListener("abort", end, { once: true });
    stream.once("close", () => lost.removeEventListener("abort", end));
    return stream;
  };
  return {
    lease_id,
    host,
    lost,
    ask,
    writer: (id, name) => atLoss(createByteWriter({ nc, subject: subjects.bytes(id, name) })),
    reader: (id, name) => atLoss(createByteReader({ nc, subject: subjects.bytes(id, name) })),
  };
}

const lostText = (host: string, why: string) => `the host ${host} was lost: it ${why}`;
