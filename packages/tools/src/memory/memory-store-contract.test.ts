import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMemoryStore } from "../../testing/memory/memory-store-contract.ts";
import { openMemoryStore } from "./sqlite-memory-store.ts";

describeMemoryStore("in a SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-memory-"));
  return {
    connect: (index) => openMemoryStore(index, folder),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
