import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describeBlobs } from "../../testing/blobs/blobs-contract.ts";
import { createBlobs } from "./blobs.ts";

describeBlobs("in a SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-blobs-"));
  return {
    connect: () => createBlobs(folder),
    damage() {
      using database = new DatabaseSync(join(folder, "blobs.sqlite"));
      database.exec("UPDATE blobs SET bytes = zeroblob(size)");
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
});
