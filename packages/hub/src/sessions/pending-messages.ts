import { ToolError } from "@octant/core";
import type { Records } from "../store/hub-store.ts";
import type { HubSession, PendingMessage } from "./hub-session.ts";
import type { HubLogs } from "./session-logs.ts";

/** How many keys of messages a session remembers. */
const MAX_KEYS = 100;

interface UserEvent {
  readonly seq: number;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

export type PendingMessages = ReturnType<typeof createPendingMessages>;

/** Messages that may not have reached the log of their session: they are stored first, and removed once it has them. */
export function createPendingMessages(records: Records<HubSession>, logs: HubLogs) {
  return {
    /**
     * Stores a message and marks the session as working. A message with a key that the session has had is not stored
     * again: its sender was killed before it knew. Returns the session when the message was stored.
     */
    async add(
      id: string,
      text: string,
      { key, report }: { readonly key?: string | undefined; report(session: HubSession): HubSession },
    ): Promise<HubSession | undefined> {
      const message: PendingMessage = { text, after: await logs.last(id) };
      const updated_at = new Date().toISOString();
      let isKnown = false;
      let isEnded = false;
      const changed = await records.change(id, (stored) => {
        isEnded = stored.state === "ended";
        if (isEnded) return stored;
        isKnown = key !== undefined && (stored.message_keys?.includes(key) ?? false);
        if (isKnown) return stored;
        return report({
          ...stored,
          state: "working",
          pending: [...stored.pending, message],
          updated_at,
          ...(key !== undefined && {
            message_keys: [...(stored.message_keys ?? []), key].slice(-MAX_KEYS),
          }),
        });
      });
      if (isEnded) throw hasEnded();
      return isKnown ? undefined : changed;
    },
    /** Removes the messages that are in the log. */
    async forgetDelivered(id: string): Promise<void> {
      const pending = (await records.get(id))?.pending ?? [];
      if (pending.length === 0) return;
      const first = Math.min(...pending.map(({ after }) => after));
      const read = await logs.readAfter(id, first, Number.MAX_SAFE_INTEGER);
      const users = read.filter((event) => event.type === "user");
      if (users.length === 0) return;
      await records.change(id, (session) => ({ ...session, pending: toUnread(session.pending, users) }));
    },
  };
}

export const hasEnded = () =>
  new ToolError("LOCKED", "the session has ended; session.fork continues it in another one", {});

/** Each event is one message, also where two have the same text, and also when this is asked again. */
function toUnread(pending: readonly PendingMessage[], users: readonly UserEvent[]): PendingMessage[] {
  const left: PendingMessage[] = [];
  const taken = new Map<string, number>();
  for (const { text, after } of pending) {
    const from = Math.max(after, taken.get(text) ?? 0);
    const event = users.find(({ seq, content }) => seq > from && textOf(content) === text);
    if (event) taken.set(text, event.seq);
    else left.push({ text, after: from });
  }
  return left;
}

const textOf = (content: UserEvent["content"]): string => content.map(({ text = "" }) => text).join("");
