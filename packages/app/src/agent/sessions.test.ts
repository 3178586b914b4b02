import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSessionStore } from "@octant/agent/contracts";
import { openSessionStore } from "./sessions.ts";

describeSessionStore("of files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-sessions-"));
  return {
    connect: () => openSessionStore(folder),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
