import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { describeHubStore } from "../../testing/hub-store-contract.ts";
import type { HubStore } from "./hub-store.ts";
import { openSqliteHubStore } from "./sqlite-hub-store.ts";

describeHubStore(async () => {
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
});
