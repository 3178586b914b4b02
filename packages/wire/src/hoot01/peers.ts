/** A client, as the socket knows it. */
export interface Peer {
  readonly identities: readonly Uint8Array[];
  /** The number of its running calls. */
  calls: number;
  heardAt: number;
  /** It sends heartbeats, so silence means that it is gone. */
  beats: boolean;
}

/** The number of missed heartbeats after which a peer counts as gone, on both sides. */
export const MISSED_HEARTBEATS = 3;
/** A peer without heartbeats is dropped after this. */
const FORGET_MS = 60_000;

export function createPeers(heartbeatMs: number, onGone: (peer: Peer) => void) {
  const peers = new Map<string, Peer>();
  const remove = (key: string, peer: Peer) => {
    peers.delete(key);
    onGone(peer);
  };
  const sweep = () => {
    const now = performance.now();
    for (const [key, peer] of peers) {
      const silentMs = now - peer.heardAt;
      if (peer.beats && silentMs > MISSED_HEARTBEATS * heartbeatMs) remove(key, peer);
      else if (peer.calls === 0 && silentMs > FORGET_MS) peers.delete(key);
    }
  };
  const timer = setInterval(sweep, heartbeatMs);
  timer.unref();
  return {
    heard(identities: readonly Uint8Array[]): Peer {
      const key = toKey(identities);
      const peer = peers.get(key) ?? { identities, calls: 0, heardAt: 0, beats: false };
      peer.heardAt = performance.now();
      peers.set(key, peer);
      return peer;
    },
    remove: (peer: Peer) => remove(toKey(peer.identities), peer),
    close: () => clearInterval(timer),
  };
}

const toKey = (identities: readonly Uint8Array[]): string =>
  identities.map((identity) => Buffer.from(identity).toString("latin1")).join("/");
