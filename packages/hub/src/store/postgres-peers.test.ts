import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { startPostgres } from "../../testing/postgres-cluster.ts";
import { createPeerCalls } from "../peers/peer-calls.ts";
import type { HubAbout, PeerSignal, Peers } from "../peers/peers.ts";
import { type HubRecord, OWNED_KINDS } from "./hub-store.ts";
import { connectToPostgres } from "./postgres-connection.ts";
import { openPostgresHubStore } from "./postgres-hub-store.ts";

const LIFE_MS = 60_000;

describe.skipIf(inject("missing").includes("postgresql"))("hubs that share a database", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  const aboutOf = ({ hub_id }: Peers): HubAbout => ({
    ...{ id: hub_id, place: "place", machine: "machine", where: "here" },
  });
  const join = async (url: string) => {
    const store = await openPostgresHubStore({ url, log() {} });
    onTestFinished(() => store.close());
    const { peers } = store;
    if (!peers) throw new Error("PostgreSQL has peers");
    await peers.beat(aboutOf(peers), LIFE_MS);
    return { store, peers };
  };
  const project = (id: string): HubRecord => ({ id, created_at: "2026" });
  const session = (id: string): HubRecord => ({ id, project_id: "p", created_at: "2026" });

  test("a project belongs to one living hub, and to another one when that is gone", async () => {
    const url = postgres.createDatabase();
    const [a, b] = [await join(url), await join(url)];
    await a.store.records("project").add(project("p"));
    expect(await b.peers.unclaimed()).toEqual(["p"]);
    expect(await a.peers.claim("p")).toBe(true);
    expect(await b.peers.claim("p")).toBe(false);
    expect(await a.peers.claim("p")).toBe(true);
    expect(await b.peers.ownerOf("p")).toMatchObject({ id: a.peers.hub_id });
    expect(await a.peers.owned()).toEqual(["p"]);
    expect(await b.peers.unclaimed()).toEqual([]);
    // Its time is over.
    await a.peers.beat(aboutOf(a.peers), 0);
    expect((await b.peers.living()).map(({ id }) => id)).toEqual([b.peers.hub_id]);
    expect(await b.peers.unclaimed()).toEqual(["p"]);
    expect(await b.peers.claim("p")).toBe(true);
    // It was only late.
    await a.peers.beat(aboutOf(a.peers), LIFE_MS);
    expect(await a.peers.claim("p")).toBe(false);
    expect(await a.peers.owned()).toEqual([]);
    await b.peers.leave();
    expect(await a.peers.claim("p")).toBe(true);
  });

  test("of hubs that claim a project together, one gets it", async () => {
    const url = postgres.createDatabase();
    const all = await Promise.all(Array.from({ length: 4 }, () => join(url)));
    for (let n = 0; n < 20; n += 1) {
      const results = await Promise.all(all.map(({ peers }) => peers.claim(`p${n}`)));
      expect(results.filter(Boolean)).toHaveLength(1);
    }
  });

  test("a hub that lost a project can write no event and no record of it", async () => {
    const url = postgres.createDatabase();
    const [a, b] = [await join(url), await join(url)];
    await a.peers.claim("p");
    for (const kind of OWNED_KINDS) await a.store.records(kind).add(session("one"));
    await a.store.events.append("one", { seq: 1 });
    await a.peers.beat(aboutOf(a.peers), 0);
    await b.peers.claim("p");
    const lost = { code: "LOCKED", message: expect.stringContaining("another hub") };
    await expect(a.store.events.append("one", { seq: 2 })).rejects.toMatchObject(lost);
    for (const kind of OWNED_KINDS) {
      const records = a.store.records<HubRecord & { readonly by?: string }>(kind);
      await expect(records.add(session("two")), kind).rejects.toMatchObject(lost);
      const change = records.change("one", (one) => ({ ...one, by: "a" }));
      await expect(change, kind).rejects.toMatchObject(lost);
      await expect(records.remove("one"), kind).rejects.toMatchObject(lost);
      expect(await records.remove("none"), kind).toBe(false);
      expect(await records.get("one")).toEqual(session("one"));
    }
    await b.store.events.append("one", { seq: 2 });
    await b.peers.leave();
    // A released project is nobody's: the earlier hub has to claim it first.
    await expect(a.store.events.append("one", { seq: 3 })).rejects.toMatchObject(lost);
  });

  test("an append that races with a takeover comes before it, or is refused", async () => {
    const url = postgres.createDatabase();
    const [a, b] = [await join(url), await join(url)];
    for (let round = 0; round < 20; round += 1) {
      const id = `s${round}`;
      await a.peers.beat(aboutOf(a.peers), LIFE_MS);
      await a.peers.claim("p");
      await a.store.records("session").add(session(id));
      const writing = (async () => {
        for (let seq = 1; ; seq += 1) await a.store.events.append(id, { seq });
      })().catch((cause: unknown) => cause);
      await vi.waitFor(async () => expect(await b.store.events.last(id)).toBeGreaterThan(1));
      await a.peers.beat(aboutOf(a.peers), 0);
      expect(await b.peers.claim("p")).toBe(true);
      const last = await b.store.events.last(id);
      await b.store.events.append(id, { seq: last + 1 });
      expect(await writing).toMatchObject({ code: "LOCKED" });
      expect(await b.store.events.last(id)).toBe(last + 1);
      await b.peers.leave();
      await b.peers.beat(aboutOf(b.peers), LIFE_MS);
    }
  });

  test("a call reaches the other hub once, and its answer can be read until it is removed", async () => {
    const url = postgres.createDatabase();
    const [a, b] = [await join(url), await join(url)];
    const seen: (PeerSignal | undefined)[] = [];
    await b.peers.watch((signal) => seen.push(signal));
    await a.peers.send(b.peers.hub_id, { id: "call_1", text: "text" });
    await vi.waitFor(() => expect(seen).toContainEqual({ kind: "call", hub_id: b.peers.hub_id }));
    expect(await a.peers.take()).toEqual([]);
    expect(await b.peers.take()).toEqual([{ id: "call_1", text: "text" }]);
    expect(await b.peers.take()).toEqual([]);
    expect(await a.peers.answerOf("call_1")).toBeUndefined();
    await b.peers.answer("call_1", "answer");
    // Again, as after a lost connection.
    for (let n = 0; n < 2; n += 1) expect(await a.peers.answerOf("call_1")).toBe("answer");
    expect(await a.peers.withdraw("call_1")).toBe(false);
    expect(await a.peers.answerOf("call_1")).toBeUndefined();
  });

  test("a call that was withdrawn before the other hub took it never runs; one that was taken is cancelled", async () => {
    const url = postgres.createDatabase();
    const [a, b] = [await join(url), await join(url)];
    const seen: (PeerSignal | undefined)[] = [];
    await b.peers.watch((signal) => seen.push(signal));
    await a.peers.send(b.peers.hub_id, { id: "call_1", text: "text" });
    expect(await a.peers.withdraw("call_1")).toBe(true);
    expect(await b.peers.take()).toEqual([]);
    await a.peers.send(b.peers.hub_id, { id: "call_2", text: "text" });
    await b.peers.take();
    expect(await a.peers.withdraw("call_2")).toBe(false);
    await vi.waitFor(() => expect(seen).toContainEqual({ kind: "cancel", call_id: "call_2" }));
    expect(await a.peers.withdraw("call_2")).toBe(false);
  });

  describe("a call that is passed to a hub", () => {
    const caller = { id: "admin", access: "admin" } as const;
    const call = { name: "workspace.create", input: {}, caller };
    /** One that is stuck has reported, and takes no calls. */
    const open = async () => {
      const url = postgres.createDatabase();
      const [{ peers: stuck }, { peers }] = [await join(url), await join(url)];
      const runHere = async () => undefined;
      const calls = await createPeerCalls({ peers, runHere, canJudge: () => true, log() {} });
      onTestFinished(() => calls.close());
      return { stuck, calls };
    };

    test("that is stuck for too long did not run there, and will not", async () => {
      const { stuck, calls } = await open();
      const passed = calls.pass(aboutOf(stuck), call, AbortSignal.timeout(LIFE_MS));
      await stuck.beat(aboutOf(stuck), 0);
      expect(await passed).toBeUndefined();
      expect(await stuck.take()).toEqual([]);
    });

    test("that was stuck after it took the call is INTERRUPTED", async () => {
      const { stuck, calls } = await open();
      const passed = calls.pass(aboutOf(stuck), call, AbortSignal.timeout(LIFE_MS));
      await vi.waitFor(async () => expect(await stuck.take()).toHaveLength(1));
      await stuck.beat(aboutOf(stuck), 0);
      await expect(passed).rejects.toMatchObject({ code: "INTERRUPTED" });
    });

    test("and is cancelled before it is taken never runs", async () => {
      const { stuck, calls } = await open();
      const stop = new AbortController();
      const passed = calls.pass(aboutOf(stuck), call, stop.signal);
      stop.abort();
      await expect(passed).rejects.toThrow();
      expect(await stuck.take()).toEqual([]);
    });
  });

  test("a hub that is older than the database can write nothing", async () => {
    const url = postgres.createDatabase();
    const { store, peers } = await join(url);
    const { sql, close } = connectToPostgres({ url, log() {} });
    onTestFinished(close);
    await sql`UPDATE octant_hub.version SET version = version + 1`;
    const refused = { code: "UNSUPPORTED", message: expect.stringContaining("update Octant") };
    await expect(store.records("project").add(project("p"))).rejects.toMatchObject(refused);
    await expect(store.events.append("one", { seq: 1 })).rejects.toMatchObject(refused);
    await expect(peers.beat(aboutOf(peers), LIFE_MS)).rejects.toMatchObject(refused);
    expect(await store.events.last("one")).toBe(0);
  });
});
