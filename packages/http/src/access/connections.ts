import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Caller } from "@octant/core";
import type { Standing } from "./gate.ts";

type Use = { readonly caller: Caller } & (
  | { readonly response: ServerResponse }
  | { readonly end: () => void }
);

const POLL_MS = 500;

export type Connections = ReturnType<typeof createConnections>;

/**
 * Tracks which caller uses which connection. A caller's open requests and sockets end when the caller loses access.
 */
export function createConnections(standingOf: (caller: Caller) => Standing) {
  /** undefined while it waits for its next request. */
  const open = new Map<Duplex, Use | undefined>();
  let looking: NodeJS.Timeout | undefined;

  const look = () => {
    for (const [socket, use] of open) {
      if (!use) continue;
      // An answered response need not be retained for as long as the connection.
      if (!isBusy(use)) open.set(socket, undefined);
      else if (standingOf(use.caller) !== "good") end(use);
    }
  };
  const stopLooking = () => {
    clearInterval(looking);
    looking = undefined;
  };
  const note = (socket: Duplex, use: Use) => {
    if (!open.has(socket))
      socket.once("close", () => {
        open.delete(socket);
        if (open.size === 0) stopLooking();
      });
    open.set(socket, use);
    looking ??= setInterval(look, POLL_MS).unref();
  };
  return {
    /** A request arrived on it; the previous one is answered. */
    request: (socket: Duplex, caller: Caller, response: ServerResponse) => note(socket, { caller, response }),
    /** It is used for another protocol from now on, which `end` ends. */
    upgrade: (socket: Duplex, caller: Caller, end: () => void) => note(socket, { caller, end }),
    close: stopLooking,
  };
}

/** An idle connection has nothing to revoke: its next request needs its own token. */
const isBusy = (use: Use) => "end" in use || !use.response.writableFinished;

const end = (use: Use) => ("end" in use ? use.end() : use.response.destroy());
