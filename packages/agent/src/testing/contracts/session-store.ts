import { describe, expect, test } from "vitest";
import type { StampedEvent } from "../../events.ts";
import { textParts } from "../../messages.ts";
import { findModel } from "../../providers/catalog.ts";
import type { Session } from "../../session.ts";
import type { SessionStore } from "../../sessions/session-store.ts";

/** Opens the same stored sessions once more, as another process would. */
export type ConnectSessions = () => SessionStore;

const say = (session: Session, text: string) =>
  session.append({ type: "user", origin: "person", content: textParts(text) });
const eventsOf = (store: SessionStore, id: string): Promise<StampedEvent[]> =>
  Array.fromAsync(store.events(id));
const NEVER = new AbortController().signal;

/** What every adapter of SessionStore promises. `setUp` starts with no sessions. */
export function describeSessionStore(
  name: string,
  setUp: () => Promise<{ readonly connect: ConnectSessions } & AsyncDisposable>,
): void {
  describe(`the session store ${name}`, () => {
    test("lists a session from its first event on, the newest first", async () => {
      await using place = await setUp();
      const store = place.connect();
      const [one, two] = [await store.create(), await store.create()];
      expect(await store.list()).toEqual([]);
      await say(one, "first");
      await one.append({ type: "title", title: "The first" });
      await say(two, "second");
      const ids = async () => (await store.list()).map(({ session_id }) => session_id);
      expect(await ids()).toEqual(expect.arrayContaining([one.id, two.id]));
      expect(await store.info(one.id)).toMatchObject({ title: "The first", events: 2, problem: null });
      await one.close();
      await two.close();
    });

    test("has an event as soon as append resolves, also for another process", async () => {
      await using place = await setUp();
      const session = await place.connect().create();
      const appended = await say(session, "hello");
      expect(await eventsOf(place.connect(), session.id)).toEqual([appended]);
      await session.close();
    });

    test("opens a session with the same conversation, and its numbers continue", async () => {
      await using place = await setUp();
      const session = await place.connect().create();
      await say(session, "one");
      await session.close();
      const again = await place.connect().open(session.id);
      expect(again.conversation.messages).toEqual(session.conversation.messages);
      expect(await say(again, "two")).toMatchObject({ seq: 2, session_id: session.id });
      await again.close();
    });

    test("lets one process at a time work in a session", async () => {
      await using place = await setUp();
      const session = await place.connect().create();
      await say(session, "one");
      const other = place.connect();
      await expect(other.open(session.id)).rejects.toMatchObject({ code: "LOCKED" });
      await expect(other.remove(session.id)).rejects.toMatchObject({ code: "LOCKED" });
      await session.close();
      await (await other.open(session.id)).close();
    });

    test("forks up to an event, and the copy knows where it comes from", async () => {
      await using place = await setUp();
      const store = place.connect();
      const session = await store.create();
      const model = findModel("example", "reader");
      await session.append({ type: "session_began", system: "", tools: [], model, cwd: "/" });
      await say(session, "one");
      await say(session, "two");
      const copy = await store.fork(session.id, 2);
      expect(await eventsOf(store, copy.id)).toMatchObject([
        { seq: 1, parent: { session_id: session.id, kind: "fork" } },
        { seq: 2, session_id: copy.id, content: [{ text: "one" }] },
      ]);
      expect(await eventsOf(store, session.id)).toHaveLength(3);
      await copy.close();
      await session.close();
    });

    test("completes a prefix that fits one session, and knows no others", async () => {
      await using place = await setUp();
      const store = place.connect();
      const [one, two] = [await store.create(), await store.create()];
      await say(one, "one");
      await say(two, "two");
      expect(await store.resolve(one.id.slice(0, -1))).toBe(one.id);
      expect(await store.resolve(one.id.slice("ses_".length))).toBe(one.id);
      for (const id of ["ses_", "ses_nope"]) {
        await expect(store.resolve(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(store.info(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(store.open(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(store.fork(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(store.remove(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(eventsOf(store, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
      }
      await one.close();
      await two.close();
    });

    test("removes a session with its events", async () => {
      await using place = await setUp();
      const store = place.connect();
      const session = await store.create();
      await say(session, "one");
      await session.close();
      await store.remove(session.id);
      expect(await store.list()).toEqual([]);
      await expect(store.open(session.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    test("finds what was said, the best match first", async () => {
      await using place = await setUp();
      const store = place.connect();
      const session = await store.create();
      await say(session, "the red door");
      await say(session, "a door");
      await session.close();
      const found = await store.search({ query: "red door", limit: 5, signal: NEVER });
      expect(found).toMatchObject([
        { session_id: session.id, seq: 1, who: "person" },
        { session_id: session.id, seq: 2 },
      ]);
    });
  });
}
