import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeHubStore } from "../../testing/hub-store-contract.ts";
import type { HubStore } from "./hub-store.ts";
import { openSqliteHubStore } from "./sqlite-hub-store.ts";

const openStore = async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-store-"));
  const opened: HubStore[] = [];
  const open = () => {
    const store = openSqliteHubStore({ file: join(folder, "hub.db") });
    opened.push(store);
    return store;
  };
  onTestFinished(async () => {
    for (const store of opened) await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store: open(), reopen: async () => open() };
};

describeHubStore(openStore);

test("events that are added together are stored each for itself, in their order", async () => {
  const { store, reopen } = await openStore();
  const add = (log_id: string, seq: number) => store.events.append(log_id, { seq });
  const added = await Promise.allSettled([add("one", 1), add("two", 2), add("one", 2), add("two", 1)]);
  expect(added.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(Object(added[1]).reason).toMatchObject({ code: "CONFLICT" });
  // Stored by the close, which does not wait for the next turn.
  const last = add("two", 2);
  await store.close();
  await last;
  const other = await reopen();
  for (const log_id of ["one", "two"])
    expect(await other.events.read(log_id, 0, 10)).toEqual([{ seq: 1 }, { seq: 2 }]);
});
