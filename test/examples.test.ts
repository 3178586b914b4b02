import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, onTestFinished, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { ended } from "./octant-process.ts";
import { startPrinting } from "./printing-command.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";
import { lacks } from "./ui/lacks.ts";

const EXAMPLES = join(import.meta.dirname, "../examples");
const SOURCES = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);
/** The expected output of each. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  "agent.ts": ["fs.read README.md", "done after 2 turns: These are examples."],
  "own-tool-and-approval.ts": ["orders 7: done", "orders 8: refused", "Order 7 is cancelled, 8 is not."],
  "own-front-end.ts": ["example is idle", "fs.read started", "fs.read ended"],
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

test("the Python example drives a run both ways: it answers a question and gets the result", async () => {
  await using provider = await createScriptedProvider([
    { parts: [{ call: "fs", input: { action: "write", uri: "hello.txt", content: "hello" } }] },
    { parts: [{ text: "Written." }] },
  ]);
  using project = createFixtureProject();
  const command = [process.execPath, LAUNCHER];
  const child = spawn("python3", [join(EXAMPLES, "headless.py"), ...command], {
    cwd: project.root,
    env: { ...project.env, ...accountAt(provider) },
  });
  const { stdout, code } = await ended(child);
  expect(stdout.trim().split("\n")).toEqual([
    "asked: fs.write",
    "tool: fs ok",
    "done - Written.",
    "exit code 0",
  ]);
  expect(code).toBe(0);
});

test.skipIf(lacks("golang-go"))("the Go example calls, fails and follows a job over the wire", async () => {
  using project = createFixtureProject();
  const folder = mkdtempSync(join(tmpdir(), "octant-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { printed } = await startPrinting(project, "serve", "--zmq", `ipc://${folder}/wire`);
  const built = spawnSync("go", ["build", "-o", join(folder, "client"), "."], {
    cwd: join(EXAMPLES, "hoot01-go"),
    encoding: "utf8",
  });
  expect(built).toMatchObject({ status: 0, stderr: "" });
  const client = spawnSync(join(folder, "client"), [String(printed["address"]), "README.md"], {
    encoding: "utf8",
  });
  expect(client).toMatchObject({ status: 0, stderr: "" });
  const readme = readFileSync(join(project.root, "README.md"), "utf8");
  expect(client.stdout.trim().split("\n")).toEqual([
    expect.stringMatching(/^connected to octant \d/),
    `README.md has ${[...readme].length} characters`,
    "a missing file is NOT_FOUND",
    '  "line 1\\n"',
    '  "line 2\\n"',
    '  "line 3\\n"',
    "the command ended with exit code 0",
  ]);
});

test.each(Object.entries(PRINTED))("the example %s works", (name, lines) => {
  const home = mkdtempSync(join(tmpdir(), "octant-example-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(EXAMPLES, name)], {
    encoding: "utf8",
    env: { PATH, HOME: home, NODE_COMPILE_CACHE },
    // It blocks this worker, whose own time limit cannot end it.
    timeout: 60_000,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout.trim().split("\n")).toEqual(lines);
});
