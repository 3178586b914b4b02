import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createPageFiles } from "./page-files.ts";

test("a page that is open stays whole while another version is installed over it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html>first");
  writeFileSync(join(folder, "assets/part-1.js"), "part");
  const files = createPageFiles(folder);
  const server = createServer((request, response) => files.send(request, response)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  // It listens on a port, not on a pipe.
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/console${path}`);
  rmSync(join(folder, "assets/part-1.js"));
  writeFileSync(join(folder, "index.html"), "<!doctype html>second");
  expect(await (await get("/")).text()).toBe("<!doctype html>first");
  expect(await (await get("/assets/part-1.js")).text()).toBe("part");
  expect((await get("/assets/part-2.js")).status).toBe(404);
});
