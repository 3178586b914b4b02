import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { keepsStamps } from "../packages/host/src/search/trigrams/tree-state.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

const FOLDERS = 24;
const FILES_PER_FOLDER = 50;

/** `octant serve` over a project that is large enough to be indexed. */
async function open() {
  const project = createFixtureProject();
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(project.root, `big/${folder}`), { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file++)
      writeFileSync(
        join(project.root, `big/${folder}/${file}.ts`),
        `export const value${file} = ${folder};\n`,
      );
  }
  const child = startOctant(["serve"], { cwd: project.root, env: project.env });
  onTestFinished(async () => {
    child.stdin.end();
    await once(child, "exit");
    project[Symbol.dispose]();
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}\n`);
    for (;;) {
      const message = JSON.parse((await lines.next()).value ?? "");
      if (message.id === id) return message.result;
    }
  };
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  // biome-ignore lint/suspicious/noExplicitAny: the envelope of any action.
  const call = async (name: string, args: object): Promise<any> =>
    (await request("tools/call", { name, arguments: args })).structuredContent;
  return { call };
}

// Without reliable time stamps there is no index.
test.skipIf(!keepsStamps(tmpdir()))(
  "searches of a big project use an index, and find what a command wrote a moment ago",
  async () => {
    const { call } = await open();
    const search = async (pattern: string) => {
      const { data, meta } = await call("fs", { action: "search_text", pattern });
      return { found: data.matches.map(({ uri }: { uri: string }) => uri.replace(/.*\/big\//, "")), meta };
    };
    const run = async (command: string) =>
      expect((await call("proc", { action: "exec", command })).data).toMatchObject({ exit_code: 0 });
    const isIndexed = async () => (await search("nowhere_to_be_found")).meta.backend;
    await expect.poll(isIndexed, { timeout: 40_000 }).toBe("trigrams+ripgrep");

    await run("sed -i 's/value7 = 3;/needle_in_the_hay/' big/3/7.ts");
    expect((await search("needle_in_the_hay")).found).toEqual(["3/7.ts"]);
    await run("printf needle_in_the_hay >> big/4/8.ts");
    expect((await search("needle_in_the_hay")).found).toEqual(["3/7.ts", "4/8.ts"]);
    await run("mkdir big/new && echo needle_in_the_hay > big/new/1.ts && rm big/3/7.ts");
    expect((await search("needle_in_the_hay")).found).toEqual(["4/8.ts", "new/1.ts"]);
  },
  120_000,
);
