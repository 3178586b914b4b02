import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { counted } from "@octant/core";
import type { NatsAddress, OfferedPlace, TakenPlace } from "@octant/wire";
import type { ContainerEngine } from "../engines/engine.ts";
import type { InstallInContainer } from "../install.ts";
import { lockFolder } from "../operations/folder-lock.ts";
import { createHostPlace, type HostPlace } from "./host-place.ts";

export interface HostOptions {
  readonly nats: NatsAddress;
  /** Shown to people. */
  readonly name: string;
  readonly engine: ContainerEngine;
  readonly install: InstallInContainer;
  readonly folder: string;
  /** Besides ANY_HOST. */
  readonly labels: readonly string[];
  readonly maxSessions: number;
  /** For the memory limits of all sessions together. */
  readonly memoryMb: number;
  log(line: string): void;
}

/** The label of work that every host may take. */
export const ANY_HOST = "any";

/** A host without this much free space takes nothing new. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const PAUSE_MS = 1_000;
/** How long work that does not fit here is delayed; another host gets it meanwhile. */
const REFUSED_MS = 1_000;
/** Longer than a live holder takes to renew its work, so that it is not offered again. */
const HELD_ELSEWHERE_MS = 4_000;
/** A place of which no hub has heard for this long is removed. */
const HUB_GONE_MS = 10 * 60_000;
const LOOK_MS = 30_000;
const ID_CHARS = 12;

interface Running {
  readonly place: HostPlace;
  readonly taken: TakenPlace;
  readonly memory_mb: number;
}

export type Host = Awaited<ReturnType<typeof createHost>>;

/** Takes sessions and image builds from the queues of a NATS server, as many as fit, and runs their containers. */
export async function createHost(options: HostOptions) {
  const { engine, install, folder, labels, maxSessions, memoryMb, log } = options;
  const places = join(folder, "places");
  mkdirSync(places, { recursive: true, mode: 0o700 });
  // Another host would remove the places of this one.
  await using opening = new AsyncDisposableStack();
  const lock = opening.use(await lockFolder(folder, 0, "host"));
  await removeLeft(engine, places);
  const { createPlaceHost } = await import("@octant/wire");
  const queue = await createPlaceHost(options.nats, {
    name: options.name,
    labels: [...new Set([ANY_HOST, ...labels])],
    log,
  });
  const running = new Map<string, Running>();
  const stopping = new AbortController();
  let saidFull = false;
  let count = 0;

  const usedMb = () => [...running.values()].reduce((sum, { memory_mb }) => sum + memory_mb, 0);
  const isDiskFull = async () => {
    const { bavail, bsize } = await statfs(folder);
    const isFull = bavail * bsize < MIN_FREE_BYTES;
    if (isFull !== saidFull)
      log(isFull ? "host: the disk is full; nothing new is taken" : "host: the disk has room again");
    saidFull = isFull;
    return isFull;
  };
  const end = async (key: string, done: boolean) => {
    const found = running.get(key);
    if (!found) return;
    running.delete(key);
    const removed = found.place
      .remove()
      .then(() => log(`host: ${key} has been removed`))
      .catch((cause: unknown) => log(`host: ${key} cannot be removed: ${cause}`));
    // The files of a place that is wanted elsewhere must not delay it.
    if (done) await removed;
    await found.taken.release(done);
    await removed;
  };
  const take = async (offered: OfferedPlace): Promise<void> => {
    const { key, memory_mb } = offered;
    if (running.has(key)) return offered.refuse(HELD_ELSEWHERE_MS);
    if (usedMb() + memory_mb > memoryMb) return offered.refuse(REFUSED_MS);
    const { promise, resolve } = Promise.withResolvers<TakenPlace>();
    let streams: TakenPlace | undefined;
    // A folder of its own each time: the one of an earlier lease may still be in removal.
    const own = join(places, `${key.slice(-ID_CHARS)}${process.pid}-${++count}`);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const place = createHostPlace({
      ...{ engine, install, log, folder: own },
      cacheOf: (project_id) => join(folder, "cache", project_id),
      isFull: isDiskFull,
      streams() {
        if (streams) return streams;
        throw new Error("the place is not open");
      },
      onClose: () => void end(key, true),
    });
    const taken = await offered.take({
      async answer(...request) {
        streams = await promise;
        return place.answer(...request);
      },
      onLost() {
        log(`host: lost ${key}; its containers are stopped`);
        void end(key, false);
      },
    });
    if (!taken) {
      rmSync(own, { recursive: true, force: true });
      return offered.refuse(HELD_ELSEWHERE_MS);
    }
    running.set(key, { place, taken, memory_mb });
    resolve(taken);
    log(`host: took ${key}; ${counted(running.size, "place")} of ${maxSessions}`);
  };
  const pull = async () => {
    while (!stopping.signal.aborted) {
      try {
        if (running.size >= maxSessions || (await isDiskFull())) {
          await delay(PAUSE_MS, undefined, { signal: stopping.signal });
          continue;
        }
        const offered = await queue.next();
        if (!offered) continue;
        if (stopping.signal.aborted) offered.refuse(0);
        else await take(offered);
      } catch (cause) {
        if (stopping.signal.aborted) return;
        log(`host: ${cause instanceof Error ? cause.message : cause}`);
        await delay(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };
  const pulling = pull();
  const looking = setInterval(() => {
    for (const [key, { place }] of running)
      if (place.silentMs() > HUB_GONE_MS) {
        log(`host: no hub has asked for ${key} for ${HUB_GONE_MS / 60_000} minutes; it is removed`);
        void end(key, true);
      }
  }, LOOK_MS);
  opening.move();
  return {
    places: () => running.size,
    /** Other hosts get its places at once. */
    async close(): Promise<void> {
      stopping.abort();
      clearInterval(looking);
      await Promise.all([...running.keys()].map((key) => end(key, false)));
      // Ends a pull that waits for a server that is away.
      await queue.close();
      await pulling;
      await engine.close();
      await lock[Symbol.asyncDispose]();
    },
  };
}

/** Removes the remains of a killed host: containers and files of places that others have now. */
async function removeLeft(engine: ContainerEngine, places: string): Promise<void> {
  for (const name of readdirSync(places)) {
    const folder = join(places, name);
    for (const { id } of await engine.list({ "octant.hub": folder })) await engine.remove(id);
    rmSync(folder, { recursive: true, force: true });
  }
}
