import { hash } from "node:crypto";

/** As long as a signed message is accepted, and as long as a client retries. */
const KEEP_MS = 150_000;
const MAX_ENTRIES = 16_384;
const MAX_BYTES = 8 * 1024 * 1024;

interface Entry {
  readonly digest: string;
  readonly at: number;
  reply: Uint8Array | undefined;
}

/** Recent replies by request id: a client without a reply retries, and must not run anything twice. */
export function createRecentReplies() {
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const drop = (id: string, entry: Entry) => {
    entries.delete(id);
    bytes -= entry.reply?.length ?? 0;
  };
  /** Oldest first; running requests stay. */
  const sweep = (now: number) => {
    for (const [id, entry] of entries) {
      const isOld = now - entry.at > KEEP_MS;
      if (!isOld && entries.size <= MAX_ENTRIES && bytes <= MAX_BYTES) return;
      if (entry.reply) drop(id, entry);
      else if (!isOld) continue;
    }
  };

  return {
    /** Records a new request, or returns the reply to a known one. `reused` is a different request under a taken id. */
    see(requestId: string, body: Uint8Array): "new" | "running" | "reused" | Uint8Array {
      const now = Date.now();
      const digest = hash("sha1", body, "base64");
      const entry = entries.get(requestId);
      if (!entry) {
        entries.set(requestId, { digest, at: now, reply: undefined });
        sweep(now);
        return "new";
      }
      if (entry.digest !== digest) return "reused";
      return entry.reply ?? "running";
    },
    finish(requestId: string, reply: Uint8Array): void {
      const entry = entries.get(requestId);
      if (!entry) return;
      entry.reply = reply;
      bytes += reply.length;
    },
    forget(requestId: string): void {
      const entry = entries.get(requestId);
      if (entry) drop(requestId, entry);
    },
  };
}
