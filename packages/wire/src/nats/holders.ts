import { errors } from "@nats-io/transport-node";
import { orAborted } from "@octant/core";
import type { NatsConnection } from "./connection.ts";
import { LEASE_MS } from "./connection.ts";
import { findLast, type Holder, parseHolder, RENEW_MS } from "./lease.ts";

/** By then a standby worker has taken over. */
const TAKEOVER_MS = LEASE_MS + 2 * RENEW_MS;
/** After a lease was released, a standby worker takes it at once. */
const RELEASED_MS = RENEW_MS;

/** The worker that has a project, as an edge knows it. */
export type Holders = Awaited<ReturnType<typeof followHolders>>;

export async function followHolders({ nc, jsm }: NatsConnection, subject: string) {
  let holder: Holder | undefined;
  let lastId: string | undefined;
  let ending: NodeJS.Timeout | undefined;
  let patienceMs = RELEASED_MS;
  let found = Promise.withResolvers<void>();
  const listeners = new Set<(worker_id: string) => void>();
  const take = (next?: Holder) => {
    clearTimeout(ending);
    holder = next;
    patienceMs = next ? TAKEOVER_MS : RELEASED_MS;
    if (!next) return;
    ending = setTimeout(take, LEASE_MS).unref();
    found.resolve();
    found = Promise.withResolvers();
    const isOther = lastId !== undefined && lastId !== next.worker_id;
    lastId = next.worker_id;
    if (isOther) for (const listener of listeners) listener(next.worker_id);
  };
  nc.subscribe(subject, { callback: (_, message) => take(parseHolder(message)) });
  const last = await findLast(jsm, subject);
  if (!holder && last) take(parseHolder(last));
  return {
    /** Waits for a worker that takes over; undefined when there is none. */
    async current(signal?: AbortSignal): Promise<Holder | undefined> {
      const late = AbortSignal.timeout(patienceMs);
      const enough = signal ? AbortSignal.any([signal, late]) : late;
      while (!holder) {
        try {
          await orAborted(found.promise, enough);
        } catch {
          return undefined;
        }
      }
      return holder;
    },
    /** A worker that does not listen any more. Its lease may not have ended yet. */
    forget({ worker_id }: Holder): void {
      if (holder?.worker_id === worker_id) holder = undefined;
    },
    /** Calls back with the id of each worker that takes over; returns a function that stops it. */
    onTaken(listener: (worker_id: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Whether no worker has received the request. */
export const isUndelivered = (cause: unknown): boolean =>
  cause instanceof errors.NoRespondersError ||
  (cause instanceof errors.RequestError && cause.isNoResponders());
