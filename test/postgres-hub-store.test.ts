import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import type { HubRecord, HubStore } from "../packages/hub/src/store/hub-store.ts";
import { connectToPostgres } from "../packages/hub/src/store/postgres-connection.ts";
import { openPostgresHubStore } from "../packages/hub/src/store/postgres-hub-store.ts";
import { describeHubStore } from "../packages/hub/testing/hub-store-contract.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { createLossyNetwork } from "../packages/wire/testing/lossy-network.ts";

type Queries = ReturnType<typeof connectToPostgres>["sql"];

describe.skipIf(inject("missing").includes("postgresql"))("the hub's state in PostgreSQL", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  const open = async (url: string, patienceMs?: number): Promise<HubStore> => {
    const store = await openPostgresHubStore({
      url,
      log() {},
      ...(patienceMs !== undefined && { patienceMs }),
    });
    onTestFinished(() => store.close());
    return store;
  };

  describeHubStore(async () => {
    const url = postgres.createDatabase();
    return { store: await open(url), reopen: () => open(url) };
  });

  test("hubs that start together on an empty database agree on its tables", async () => {
    const url = postgres.createDatabase();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    for (const [n, store] of stores.entries()) await store.events.append("log", { seq: n + 1 });
  });

  test("a watcher hears of events that another hub writes", async () => {
    const url = postgres.createDatabase();
    const [writer, reader] = [await open(url), await open(url)];
    const grown: (string | undefined)[] = [];
    await reader.events.watch((log_id) => grown.push(log_id));
    await writer.events.append("one", { seq: 1 });
    await vi.waitFor(() => expect(grown).toContain("one"));
  });

  test("of hubs that write the same number, one wins and the others get CONFLICT", async () => {
    const url = postgres.createDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    for (let seq = 1; seq <= 20; seq += 1) {
      const results = await Promise.allSettled(
        stores.map((store, hub) => store.events.append("log", { seq, ...{ hub } })),
      );
      const refused = results.filter((one) => one.status === "rejected").map(({ reason }) => reason.code);
      expect(refused).toEqual(["CONFLICT", "CONFLICT", "CONFLICT"]);
    }
  });

  test("writes during restarts of the server happen once, and a watcher is told to look again", async () => {
    const url = postgres.createDatabase();
    const store = await open(url);
    const counter: HubRecord & { readonly count: number } = { id: "a", created_at: "2026", count: 0 };
    const records = store.records<typeof counter>("project");
    await records.add(counter);
    const woken: (string | undefined)[] = [];
    await store.events.watch((log_id) => woken.push(log_id));
    const before = woken.length;
    let isOver = false;
    const write = async () => {
      let count = 0;
      for (; !isOver; count += 1) {
        await records.change("a", (one) => ({ ...one, count: one.count + 1 }));
        await store.events.append("log", { seq: count + 1 });
      }
      return count;
    };
    const written = write();
    for (let restart = 0; restart < 3; restart += 1) {
      const seen = (await store.events.last("log")) + 3;
      await vi.waitFor(async () => expect(await store.events.last("log")).toBeGreaterThan(seen));
      postgres.stop();
      postgres.start();
    }
    isOver = true;
    const count = await written;
    expect(await records.get("a")).toMatchObject({ count });
    expect(await store.events.last("log")).toBe(count);
    await vi.waitFor(() => expect(woken.slice(before)).toContain(undefined));
  });

  test("a database that stays away is reported with the next step", async () => {
    const refused = { code: "UPSTREAM_ERROR", message: expect.stringContaining("--database") };
    await expect(open("postgres://nobody@localhost/none?host=/nonexistent", 0)).rejects.toMatchObject(
      refused,
    );
  });

  test.each(["08006", "25006", "53100", "53300", "57P01", "58030"])(
    "a query waits for a server that cannot work now: %s",
    async (code) => {
      const { run, close } = connectToPostgres({ url: postgres.createDatabase(), log() {} });
      onTestFinished(close);
      let tries = 0;
      await run(async (sql) => {
        tries += 1;
        if (tries < 3) await sql.unsafe(`DO $$ BEGIN RAISE 'not now' USING ERRCODE = '${code}'; END $$`);
      });
      expect(tries).toBe(3);
    },
  );

  test("a query waits for a name that is not found now, and then says why it failed", async () => {
    const log: string[] = [];
    const url = "postgres://hub:hidden@database.invalid/hub";
    const { run, close } = connectToPostgres({ url, patienceMs: 300, log: (line) => log.push(line) });
    onTestFinished(close);
    await expect(run((sql) => sql`SELECT 1`)).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringMatching(/cannot be used \((?:ENOTFOUND|EAI_AGAIN)\)/),
    });
    expect(log).toEqual([expect.stringContaining("database.invalid; trying again")]);
    expect(log.join()).not.toContain("hidden");
  });

  test.each(["disable", "require"])(
    "connections that go silent without an end are replaced, with sslmode %s",
    async (mode) => {
      const port = await freePort();
      using server = startPostgres({ tlsPort: port });
      const direct = server.createDatabase();
      const network = await createLossyNetwork({ host: "127.0.0.1", port });
      onTestFinished(() => network.close());
      const url = `${direct.replace(`:${port}`, `:${network.port}`)}?sslmode=${mode}`;
      const store = await openPostgresHubStore({ url, silenceMs: 500, log() {} });
      onTestFinished(() => store.close());
      const grown: (string | undefined)[] = [];
      await store.events.watch((log_id) => grown.push(log_id));
      await store.events.append("log", { seq: 1 });
      network.silence();
      await store.events.append("log", { seq: 2 });
      expect(await store.events.read("log", 0, 10)).toEqual([{ seq: 1 }, { seq: 2 }]);
      const other = await open(direct);
      grown.length = 0;
      // The watcher listens again soon after.
      await vi.waitFor(async () => {
        await other.events.append("other", { seq: (await other.events.last("other")) + 1 });
        expect(grown).toContain("other");
      }, 20_000);
    },
    60_000,
  );

  test("an update of the tables may take long", async () => {
    const { run, close } = connectToPostgres({ url: postgres.createDatabase(), silenceMs: 100, log() {} });
    onTestFinished(close);
    const tries: boolean[] = [];
    const work = async (sql: Queries, isRetry: boolean) => {
      tries.push(isRetry);
      await sql`SELECT pg_sleep(0.5)`;
    };
    await run(work, { mayTakeLong: true });
    expect(tries).toEqual([false]);
  });

  test("a hub that stops within a transaction does not keep its projects", async () => {
    const url = postgres.createDatabase();
    const [stuck, other] = [await open(url), await open(url)];
    const about = { place: "p", machine: "m", where: "w" };
    await stuck.peers?.beat({ id: stuck.peers.hub_id, ...about }, 1);
    await stuck.peers?.claim("project");
    const { sql, close } = connectToPostgres({ url, log() {} });
    onTestFinished(close);
    const held = Promise.withResolvers<void>();
    // As a write of a record does, whose hub says nothing more.
    const writing = sql.begin(async (tx) => {
      await tx`SELECT 1 FROM octant_hub.claims WHERE project_id = 'project' FOR SHARE`;
      held.resolve();
      await new Promise(() => {});
    });
    await held.promise;
    writing.catch(() => {});
    expect(await other.peers?.claim("project")).toBe(true);
  }, 30_000);

  test("a database of a newer hub is refused", async () => {
    const url = postgres.createDatabase();
    await open(url);
    const { sql, close } = connectToPostgres({ url, log() {} });
    await sql`UPDATE octant_hub.version SET version = 99`;
    await close();
    await expect(open(url)).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
