import type { Caller, Dispatch } from "@octant/core";
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
}

/** What all connections of one MCP server share. */
export interface Service {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  readonly log: (line: string) => void;
  listing(): Listing;
  onListChanged(listener: () => void): () => void;
  close(): void;
}

export const CAPABILITIES = { tools: { listChanged: true } } as const;

/** The list rarely changes, and clients that care are told when it does. */
export const LIST_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

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
