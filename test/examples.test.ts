import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const EXAMPLES = join(import.meta.dirname, "../examples");
const SOURCES = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);
/** The expected output of each. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  "agent.ts": ["fs.read README.md", "It begins with: # Examples", "done after 2 turns"],
  "open-agent.ts": ["fs.read README.md", "These are examples.", "done after 2 turns"],
  "custom-tool.ts": ["Hello, Ada.", "NOT_FOUND"],
  "tools-at-run-time.ts": ["fs", "fs, clock", "fs"],
  "typed-client.ts": [`${SOURCES.length} examples`, "# Examples", "INVALID_ARGUMENT", "sandbox: workspace"],
  "serve-http.ts": ["# Examples", "PERMISSION_DENIED"],
};

test("every example is run here", () => {
  expect(
    readdirSync(EXAMPLES)
      .filter((name) => name.endsWith(".ts"))
      .sort(),
  ).toEqual(Object.keys(PRINTED).sort());
});

test.each(Object.entries(PRINTED))("the example %s works", (name, lines) => {
  const home = mkdtempSync(join(tmpdir(), "octant-example-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(EXAMPLES, name)], {
    encoding: "utf8",
    env: { PATH, HOME: home, NODE_COMPILE_CACHE },
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout.trim().split("\n")).toEqual(lines);
});
