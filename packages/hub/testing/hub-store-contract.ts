import { expect, test, vi } from "vitest";
import type { DumpRow, HubRecord, HubStore } from "../src/store/hub-store.ts";

interface Thing extends HubRecord {
  readonly count: number;
}

const thing = (id: string, more: Partial<Thing> = {}): Thing => ({
  id,
  created_at: `2026-11-16T00:00:0${id.length}.000Z`,
  count: 0,
  ...more,
});

/** What any store of a hub must do. `reopen` opens the same state again, as another hub would. */
export function describeHubStore(
  open: () => Promise<{ store: HubStore; reopen(): Promise<HubStore> }>,
): void {
  test("a record is read back, changed and removed, also by another hub", async () => {
    const { store, reopen } = await open();
    const things = store.records<Thing>("project");
    await things.add(thing("a"));
    const other = (await reopen()).records<Thing>("project");
    expect(await other.get("a")).toEqual(thing("a"));
    expect(await other.change("a", (one) => ({ ...one, count: 7 }))).toMatchObject({ count: 7 });
    expect(await things.get("a")).toMatchObject({ count: 7 });
    expect(await things.remove("a")).toBe(true);
    expect(await other.get("a")).toBeUndefined();
    expect(await other.remove("a")).toBe(false);
    expect(await other.change("a", (one) => one)).toBeUndefined();
  });

  test("records are listed newest first, of one project and of one kind", async () => {
    const { store } = await open();
    const things = store.records<Thing>("session");
    for (const id of ["a", "bb", "ccc"])
      await things.add(thing(id, { project_id: id === "bb" ? "p2" : "p1" }));
    await store.records<Thing>("schedule").add(thing("dddd", { project_id: "p1" }));
    expect((await things.list()).map(({ id }) => id)).toEqual(["ccc", "bb", "a"]);
    expect((await things.list({ project_id: "p1" })).map(({ id }) => id)).toEqual(["ccc", "a"]);
    expect((await things.list({ limit: 1 })).map(({ id }) => id)).toEqual(["ccc"]);
  });

  test("records are found by the beginning of their ids, newest first", async () => {
    const { store } = await open();
    const things = store.records<Thing>("schedule_run");
    for (const id of ["a.1", "a.10", "a", "ab.1", "a.~", "b.1"]) await things.add(thing(id));
    const ids = async (id_prefix: string) =>
      (await things.list({ id_prefix })).map(({ id }) => id).toSorted();
    expect(await ids("a.")).toEqual(["a.1", "a.10", "a.~"]);
    expect(await ids("b")).toEqual(["b.1"]);
    expect(await ids("%")).toEqual([]);
    expect(await things.list({ id_prefix: "a.", limit: 1 })).toHaveLength(1);
  });

  test("a name is unique within its kind and project, and a refused change leaves the record", async () => {
    const { store } = await open();
    const things = store.records<Thing>("workspace");
    await things.add(thing("a", { project_id: "p1", name: "main" }));
    await things.add(thing("b", { project_id: "p2", name: "main" }));
    await things.add(thing("c", { project_id: "p1" }));
    await things.add(thing("d", { project_id: "p1" }));
    const taken = { code: "ALREADY_EXISTS" };
    await expect(things.add(thing("e", { project_id: "p1", name: "main" }))).rejects.toMatchObject(taken);
    await expect(things.change("c", (one) => ({ ...one, name: "main" }))).rejects.toMatchObject(taken);
    expect(await things.get("c")).toEqual(thing("c", { project_id: "p1" }));
    await things.remove("a");
    await things.add(thing("e", { project_id: "p1", name: "main" }));
  });

  test("changes of two hubs are both kept", async () => {
    const { store, reopen } = await open();
    await store.records<Thing>("project").add(thing("a"));
    const hubs = [store, await reopen()];
    const add = (hub: HubStore) =>
      hub.records<Thing>("project").change("a", (one) => ({ ...one, count: one.count + 1 }));
    await Promise.all(Array.from({ length: 50 }, (_, n) => add(hubs[n % 2] ?? store)));
    expect(await store.records<Thing>("project").get("a")).toMatchObject({ count: 50 });
  });

  test("events are read from any number, and a number that another hub has written is refused", async () => {
    const { store, reopen } = await open();
    const event = (seq: number) => ({ seq, text: `event ${seq}` });
    for (const seq of [1, 2, 3]) await store.events.append("one", event(seq));
    await store.events.append("two", event(1));
    const other = await reopen();
    expect(await other.events.read("one", 1, 10)).toEqual([event(2), event(3)]);
    expect(await other.events.read("one", 0, 1)).toEqual([event(1)]);
    expect(await other.events.last("one")).toBe(3);
    expect(await other.events.last("none")).toBe(0);
    const refused = { code: "CONFLICT", details: { expected: "3", actual: "4" } };
    await expect(other.events.append("one", event(3))).rejects.toMatchObject(refused);
    await expect(other.events.append("one", event(5))).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await other.events.ids()).toSorted()).toEqual(["one", "two"]);
    await other.events.remove("one");
    expect(await store.events.read("one", 0, 10)).toEqual([]);
  });

  test("a watcher is called for each log that grows, until it leaves", async () => {
    const { store } = await open();
    const grown: (string | undefined)[] = [];
    const watching = await store.events.watch((log_id) => grown.push(log_id));
    await store.events.append("one", { seq: 1 });
    await vi.waitFor(() => expect(grown).toContain("one"));
    await watching[Symbol.asyncDispose]();
    await store.events.append("two", { seq: 1 });
    await store.events.append("two", { seq: 2 });
    expect(grown).not.toContain("two");
  });

  test("text that JSON escapes is read back: NUL, a lone surrogate, quotes", async () => {
    const { store } = await open();
    const event = { seq: 1, text: "\u0000 \ud800 '\"\\ \u2028" };
    await store.events.append("one", event);
    expect(await store.events.read("one", 0, 1)).toEqual([event]);
  });

  test("a lease has one holder, who may renew it, until it is released or its time is over", async () => {
    const { store, reopen } = await open();
    const { leases } = store;
    const other = (await reopen()).leases;
    expect(await leases.take("nightly", "a", 60_000)).toBe(true);
    expect(await other.take("nightly", "b", 60_000)).toBe(false);
    expect(await leases.take("nightly", "a", 60_000)).toBe(true);
    await other.release("nightly", "b");
    expect(await other.take("nightly", "b", 60_000)).toBe(false);
    await leases.release("nightly", "a");
    expect(await other.take("nightly", "b", 0)).toBe(true);
    expect(await leases.take("nightly", "a", 60_000)).toBe(true);
  });

  test("a dump has one state while others write, and refills only an empty store", async () => {
    const { store, reopen } = await open();
    await store.records<Thing>("project").add(thing("a", { name: "one" }));
    for (const seq of [1, 2]) await store.events.append("log", { seq });
    const rows: DumpRow[] = [];
    for await (const row of store.dump()) {
      // A change after the dump began is not part of it.
      if (rows.length === 0) await (await reopen()).events.append("log", { seq: 3 });
      rows.push(row);
    }
    expect(rows).toEqual([
      { kind: "project", record: thing("a", { name: "one" }) },
      { log_id: "log", event: { seq: 1 } },
      { log_id: "log", event: { seq: 2 } },
    ]);
    const given = async function* () {
      yield* rows;
    };
    await expect(store.load(given())).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await store.records("project").remove("a");
    await store.events.remove("log");
    await store.load(given());
    expect(await store.records<Thing>("project").list()).toEqual([thing("a", { name: "one" })]);
    expect(await store.events.last("log")).toBe(2);
  });
}
