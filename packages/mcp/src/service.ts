import { randomBytes } from "node:crypto";
import type { Caller, Dispatch } from "@octant/core";
import { createStateSeal, type StateSeal } from "./asking/request-state.ts";
import { createListing, type Listing, type ListingOptions } from "./listing.ts";

export interface ServiceOptions extends ListingOptions {
  readonly dispatch: Dispatch;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  /** Who calls through this edge; by default one caller who may do everything. */
  readonly caller?: Caller;
  /** Told of what the protocol has no answer for. */
  readonly log: (line: string) => void;
  /** Seals what clients hold for us; the same for all servers that a client may come back to. */
  readonly secret?: Uint8Array;
}

/** What all connections of one MCP server share. */
export interface Service {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  readonly log: (line: string) => void;
  readonly states: StateSeal;
  listing(): Listing;
  onListChanged(listener: () => void): () => void;
  close(): void;
}

export const CAPABILITIES = { tools: { listChanged: true } } as const;

/** The list rarely changes, and clients that care are told when it does. */
export const LIST_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

const SECRET_BYTES = 32;

export function createService(options: ServiceOptions): Service {
  let listing = createListing(options);
  let stale = false;
  const stopWatching = options.registry.onChange(() => {
    stale = true;
  });
  return {
    serverInfo: { name: options.name, version: options.version },
    instructions: options.instructions || undefined,
    dispatch: options.dispatch,
    caller: options.caller ?? { id: "local", access: "admin" },
    log: options.log,
    states: createStateSeal(options.secret ?? randomBytes(SECRET_BYTES)),
    listing() {
      if (!stale) return listing;
      stale = false;
      try {
        listing = createListing(options);
      } catch (cause) {
        // A tool added at run time must not take the others down.
        options.log(`the tool list stays as it was: ${cause}`);
      }
      return listing;
    },
    onListChanged: (listener) => options.registry.onChange(listener),
    close: stopWatching,
  };
}
