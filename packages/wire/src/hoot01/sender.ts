import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import type { WireKeys } from "../zmq/keys.ts";
import type { MessageSocket } from "./message-server.ts";
import type { Peer } from "./peers.ts";
import type { OutgoingMessage } from "./pending-request.ts";
import { sealFrames } from "./signature.ts";

/** Where messages go; a client that connects anew changes it. */
export interface Destination {
  readonly peer: Peer;
}

/** There is no event when a full queue drains, or a peer is back. */
const FIRST_RETRY_MS = 2;
const MAX_RETRY_MS = 200;
/** A client that was away for this long does not come back. */
const MAX_AWAY_MS = 60_000;

export type Sender = ReturnType<typeof createSender>;

/** Sends to peers without ever delaying one for another. */
export function createSender(socket: MessageSocket, keys: WireKeys | undefined) {
  const send = async (peer: Peer, message: OutgoingMessage): Promise<"sent" | "full" | "gone"> => {
    try {
      await socket.send([...peer.identities, ...sealFrames(message, keys)]);
      return "sent";
    } catch (cause) {
      return cause instanceof Error && "code" in cause && cause.code === "EAGAIN" ? "full" : "gone";
    }
  };
  return {
    send,
    /** Waits while the queue of the peer is full. False when the peer is gone. */
    async deliver(to: Destination, message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
      for (let ms = FIRST_RETRY_MS; ; ms = Math.min(2 * ms, MAX_RETRY_MS)) {
        const outcome = await send(to.peer, message);
        if (outcome !== "full") return outcome === "sent";
        await delay(ms, undefined, { signal });
      }
    },
    /** The same, but also waits for a client that is away to send its request again. */
    async deliverAnywhere(to: Destination, message: OutgoingMessage, signal: AbortSignal): Promise<void> {
      let awayMs = 0;
      for (let ms = FIRST_RETRY_MS; ; ms = Math.min(2 * ms, MAX_RETRY_MS)) {
        signal.throwIfAborted();
        const outcome = await send(to.peer, message);
        if (outcome === "sent") return;
        awayMs = outcome === "gone" ? awayMs + ms : 0;
        if (awayMs > MAX_AWAY_MS) throw new ToolError("CANCELLED", "the caller left", {});
        await delay(ms, undefined, { signal });
      }
    },
  };
}
