// Other tests start the built programs: test/built-entries.ts.
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { type Ended, runOctant } from "./octant-process.ts";
import { SOURCE_LAUNCHER } from "./published-command.ts";

const ROOT = join(import.meta.dirname, "..");

test("the command of a checkout starts commands and packs from the sources", async () => {
  using project = createFixtureProject();
  const octant = (...args: readonly string[]): Promise<Ended> =>
    runOctant(args, { cwd: project.root, env: project.env, launcher: SOURCE_LAUNCHER });
  const ran = await octant("call", "proc.exec", "command=echo from-the-sources");
  expect(ran.stdout, ran.stderr).toContain("from-the-sources");
  const at = join(project.root, "../hello");
  await octant("pack", "new", at);
  const greeted = await octant("call", "hello.greet", "name=Ada", "--pack", at);
  expect(greeted.stdout, greeted.stderr).toContain("Ada");
});

test.each([
  ["net-transform-entry", { kind: "json", text: '["from the sources"]' }],
  ["trigram-entry", undefined],
])("the thread %s starts from the sources", async (name, workerData) => {
  const [entry = ""] = globSync(`packages/*/src/**/${name}.ts`, { cwd: ROOT });
  const thread = new Worker(join(ROOT, entry), { workerData });
  thread.postMessage({ number: 1, name: "unknown", args: [] });
  const [answer] = await once(thread, "message");
  expect(JSON.stringify(answer)).toMatch(/from the sources|"number":1/);
  await thread.terminate();
});
