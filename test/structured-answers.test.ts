import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { startOctant } from "./octant-process.ts";

const NAMES = [
  "plain.ts",
  "a b.ts",
  "100%.ts",
  "ü.ts",
  "x:y.ts",
  "~",
  "#1.ts",
  "a?b.ts",
  "(c) 'd'.ts",
  "%41.ts",
];

/** Two roots with the same files, each of which holds its own path. */
function createRoots() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-structured-")));
  const roots = ["one", "two"].map((name) => join(folder, name));
  for (const root of roots) {
    mkdirSync(join(root, "in"), { recursive: true });
    for (const name of NAMES) {
      for (const place of [root, join(root, "in")])
        writeFileSync(join(place, name), `mark of ${join(place, name)}\n`);
    }
  }
  return { folder, roots, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

test("with --answers structured rows name files from the base, and each is read by its name as it stands", async () => {
  using made = createRoots();
  const [first = "", second = ""] = made.roots;
  const args = ["serve", "--answers", "structured", "--root", first, "--root", second];
  const env = { ...process.env, HOME: made.folder, XDG_STATE_HOME: join(made.folder, "state") };
  const child = startOctant(args, { cwd: first, env });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}\n`);
    return JSON.parse((await lines.next()).value ?? "").result;
  };
  const call = async (action: string, more: object) =>
    (await request("tools/call", { name: "fs", arguments: { action, ...more } })).structuredContent;
  const clientInfo = { name: "t", version: "1" };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const found = [
    await call("list", { depth: 2, kind: "file" }),
    await call("list", { uri: second, depth: 2, kind: "file" }),
    await call("search_text", { pattern: "mark of" }),
  ];
  const shown = new Set<string>();
  for (const { ok, data, meta } of found) {
    expect([ok, meta.base]).toEqual([true, `${pathToFileURL(first).href}/`]);
    for (const { uri } of data.entries ?? data.matches) {
      const read = await call("read", { uri });
      expect(read.data).toMatchObject({ uri: new URL(uri, meta.base).href });
      shown.add(read.data.text);
      if (!read.data.uri.startsWith(meta.base)) expect(uri).toBe(read.data.uri);
    }
    expect(data.entries?.length ?? data.matches.length).toBe(
      data.matches ? 4 * NAMES.length : 2 * NAMES.length,
    );
  }
  const names = made.roots.flatMap((root) =>
    NAMES.flatMap((name) => [join(root, name), join(root, "in", name)]),
  );
  expect([...shown].sort()).toEqual(names.map((name) => `mark of ${name}\n`).sort());
  const uris = found[0].data.entries.map(({ uri }: { uri: string }) => uri);
  expect(uris).toEqual(expect.arrayContaining(["plain.ts", "in/plain.ts", "in/~"]));
  child.stdin.end();
  await once(child, "exit");
});
