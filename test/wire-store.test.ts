import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { OwnTool } from "@octant/app";
import { createZmqClient } from "@octant/wire";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { ended, startOctant } from "./octant-process.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(REPOSITORY, "docs/wire.md"), "utf8");

test("the round trip of docs/wire.md runs against octant serve --zmq, and the client is typed", async () => {
  using project = createFixtureProject();
  const sockets = mkdtempSync("/tmp/octant-wire-store-");
  const server = startOctant(["serve", "--zmq", `ipc://${sockets}/wire`, "--json"], {
    cwd: project.root,
    env: project.env,
  });
  const cache = join(REPOSITORY, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "round-trip-"));
  try {
    const [line] = await once(server.stdout.setEncoding("utf8"), "data");
    const { address } = JSON.parse(line);
    const [, code = ""] = /## A round trip[\s\S]*?```ts\n([\s\S]*?)```/.exec(PAGE) ?? [];
    const file = join(folder, "program.mjs");
    writeFileSync(file, stripTypeScriptTypes(code));
    const ran = await ended(startOctant([address], { cwd: REPOSITORY, launcher: file }));
    expect(ran).toMatchObject({ code: 0, stdout: "true tune.mid\n" });

    const client = createZmqClient({ address });
    const { cas, annotation } = client.tools<OwnTool>();
    const { size } = await cas.store({ content: "abc" });
    expect(size).toBe(3);
    // @ts-expect-error: `nothing` is not a parameter of cas.store.
    await expect(cas.store({ nothing: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const unknown = "artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
    await expect(annotation.add({ target: unknown, text: "lost" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    client.close();
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
    rmSync(sockets, { recursive: true });
  }
});
