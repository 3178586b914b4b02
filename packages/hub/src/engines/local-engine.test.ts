import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalEngine } from "./local-engine.ts";

test("a reader of a container's state sees a whole one while it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const engine = createLocalEngine({ folder });
  const id = await engine.create({
    ...{ name: "one", labels: {}, mounts: [], env: {}, cwd: "/", network: "none", limits: {} },
  });
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".json"));
  // As another hub that has just opened it.
  const reading = openSync(join(folder, file), "r");
  onTestFinished(() => closeSync(reading));
  const before = readFileSync(join(folder, file), "utf8");
  await engine.stop(id, 0);
  expect(readFileSync(reading, "utf8")).toBe(before);
  expect(await engine.inspect(id)).toMatchObject({ state: "stopped" });
});
