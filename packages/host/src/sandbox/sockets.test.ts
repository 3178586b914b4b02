import { once } from "node:events";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listeningSockets } from "./sockets.ts";

test.skipIf(process.platform !== "linux")(
  "a socket counts once it has lasted, so that one which comes and goes stops no command",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "octant-sockets-"));
    const [young, lasting, removed] = ["young", "lasting", "removed"].map((name) => join(folder, name));
    const servers = [young, lasting, removed].map((path) => createServer().listen(path));
    onTestFinished(() => {
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await Promise.all(servers.map((server) => once(server, "listening")));
    for (const path of [lasting, removed]) utimesSync(path ?? "", 1, 1);
    rmSync(removed ?? "");
    const found = listeningSockets().filter((path) => path.startsWith(folder));
    expect(found).toEqual([lasting]);
  },
);
