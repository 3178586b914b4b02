import { hash } from "node:crypto";
import { ToolError } from "@octant/core";
import type { RepeatBinary } from "../reply-stream.ts";

/** As long as a signed message is accepted, and as long as a client retries. */
const RETENTION_MS = 150_000;
const MAX_ENTRIES = 65_536;
const MAX_BYTES = 8 * 1024 * 1024;

/** The answer to a request: its last reply, and how to send the bytes before it again. */
export interface RecentReply {
  readonly body: Uint8Array;
  readonly repeat?: RepeatBinary | undefined;
}

interface Entry {
  readonly digest: string;
  readonly at: number;
  /** When the newest message with this request was signed, where messages are. */
  signedAt: number;
  state: "running" | "forgotten" | RecentReply;
}

/**
 * Recent requests by their id: a client without a reply retries, and must not run anything twice. Ids outlast the
 * replies, so that neither a late retry nor a recorded message runs again.
 */
export function createRecentReplies() {
  const entries = new Map<string, Entry>();
  /** Requests with a reply, oldest first. */
  const replies = new Map<string, RecentReply>();
  let bytes = 0;
  /** Ids of messages signed up to here may have been dropped, so unknown ones are refused. */
  let signedFrom = Number.NEGATIVE_INFINITY;

  const forgetReply = (id: string, reply: RecentReply) => {
    if (replies.delete(id)) bytes -= reply.body.length;
    const entry = entries.get(id);
    if (entry) entry.state = "forgotten";
  };
  const drop = (id: string, entry: Entry) => {
    if (typeof entry.state === "object") forgetReply(id, entry.state);
    entries.delete(id);
  };
  /** Oldest first; running requests stay. */
  const sweep = (now: number) => {
    for (const [id, entry] of entries) {
      const isOld = now - entry.at > RETENTION_MS;
      if (!isOld && entries.size <= MAX_ENTRIES) return;
      if (entry.state === "running") continue;
      drop(id, entry);
      if (!isOld) signedFrom = Math.max(signedFrom, entry.signedAt);
    }
  };

  return {
    /**
     * Records a new request, or returns the reply to a known one. `reused` is a different request under a taken id,
     * `forgotten` one whose reply is no longer stored. A signed message is accepted once.
     */
    see(requestId: string, body: Uint8Array, signedAt = Number.NaN): "new" | "reused" | Entry["state"] {
      const now = Date.now();
      const digest = hash("sha1", body, "base64");
      const entry = entries.get(requestId);
      if (signedAt <= (entry?.signedAt ?? signedFrom)) throw replayed();
      if (!entry) {
        entries.set(requestId, { digest, at: now, signedAt, state: "running" });
        sweep(now);
        return "new";
      }
      if (entry.digest !== digest) return "reused";
      entry.signedAt = signedAt;
      return entry.state;
    },
    finish(requestId: string, reply: RecentReply): void {
      const entry = entries.get(requestId);
      if (!entry) return;
      entry.state = reply;
      replies.set(requestId, reply);
      bytes += reply.body.length;
      for (const [id, oldest] of replies) {
        if (bytes <= MAX_BYTES) return;
        forgetReply(id, oldest);
      }
    },
    forget(requestId: string): void {
      const entry = entries.get(requestId);
      if (entry) drop(requestId, entry);
    },
  };
}

const replayed = () =>
  new ToolError(
    "UNAUTHENTICATED",
    "a message with this signature, or a later one, was already received; sign each message when you send it",
    {},
  );
