import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "@octant/core";
import type { HubStore } from "../store/hub-store.ts";
import { createMembership, createSoleMembership, type Membership, type Turns } from "./membership.ts";
import { openPlace } from "./place.ts";
import { createProcessLocks } from "./process-lock.ts";

export interface JoinOptions extends Turns {
  readonly store: HubStore;
  readonly folder: string;
  readonly clock: Clock;
  readonly lifeMs?: number | undefined;
  /** Its containers are on hosts. */
  readonly hosted: boolean;
  log(line: string): void;
}

/** The projects of a hub that is stuck or cut off go to others after this time; those of a dead neighbour at once. */
const LIFE_MS = 10_000;
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** Makes this hub one of those that share its database. */
export async function joinPeers({
  store,
  folder,
  lifeMs = LIFE_MS,
  hosted,
  ...rest
}: JoinOptions): Promise<Membership> {
  const { peers } = store;
  if (!peers) return createSoleMembership(store, rest);
  const place = await openPlace(folder, peers.database_id);
  const machine = existsSync(BOOT_ID) ? readFileSync(BOOT_ID, "utf8").trim() : hostname();
  const about = { id: peers.hub_id, place, machine, where: `${hostname()}:${folder}`, hosted };
  const locks = createProcessLocks(join(folder, "hubs"));
  return createMembership({ ...rest, store, peers, about, locks, lifeMs });
}
