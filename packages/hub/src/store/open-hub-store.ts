import { join } from "node:path";
import type { HubStore } from "./hub-store.ts";
import { openPostgresHubStore } from "./postgres-hub-store.ts";
import { openSqliteHubStore } from "./sqlite-hub-store.ts";

export interface OpenHubStoreOptions {
  readonly folder: string;
  /** The URL of a PostgreSQL database; without one the state is a file in the folder. */
  readonly database?: string | undefined;
  log(line: string): void;
}

export const hubFileOf = (folder: string): string => join(folder, "hub.db");

export const openHubStore = async ({ folder, database, log }: OpenHubStoreOptions): Promise<HubStore> =>
  database === undefined
    ? openSqliteHubStore({ file: hubFileOf(folder) })
    : openPostgresHubStore({ url: database, log });
