import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type CodeProject, FIXTURES, openCodeProject, positionOf } from "./code-project.ts";

const SCRIPT = join(import.meta.dirname, "../packages/host/testing/language-servers/silent-server.ts");
const LIMITS = { startMs: 20_000, firstAnswerMs: 10_000, answerMs: 300 };

let project: CodeProject;
afterEach(() => project[Symbol.asyncDispose]());

/** A project whose server answers this many requests and then falls silent. */
function open(answers: number, limits: object = LIMITS) {
  const command = [process.execPath, SCRIPT, `${answers}`] as const;
  project = openCodeProject([join(FIXTURES, "typescript")], {
    configured: { typescript: { command: [...command] } },
    limits: { ...LIMITS, ...limits },
  });
  const uri = join(project.roots[0]!, "src/main.ts");
  return async (onProgress?: (message: string | undefined) => void) => {
    const started = performance.now();
    const input = { uri, position: positionOf(uri, "roundCents(4") };
    const { meta, data } = await project.call("code", "definition", input, onProgress);
    return { backend: meta.backend, found: data.results.length, ms: performance.now() - started };
  };
}
const pid = async () => {
  const found = await project.servers.find(join(project.roots[0]!, "src/main.ts"));
  return "server" in found ? found.server.running?.pid : undefined;
};

test("a warm server that falls silent costs its short budget; silent twice, it is stopped and another starts", async () => {
  const define = open(2);
  expect(await define()).toMatchObject({ backend: process.execPath, found: 1 });
  const first = await pid();
  expect(first).toBeTypeOf("number");
  const { backend, found, ms } = await define();
  expect({ backend, found }).toEqual({ backend: "tree-sitter", found: 1 });
  expect(ms).toBeGreaterThanOrEqual(LIMITS.answerMs);
  expect(ms).toBeLessThan(LIMITS.firstAnswerMs);
  expect(await pid()).toBe(first);
  expect(await define()).toMatchObject({ backend: "tree-sitter" });
  expect(await pid()).toBeUndefined();
  expect(await define()).toMatchObject({ backend: process.execPath });
  expect(await pid()).not.toBe(first);
});

test("concurrent unanswered queries count as one silence", async () => {
  const define = open(2);
  await define();
  const first = await pid();
  await Promise.all([define(), define(), define()]);
  expect(await pid()).toBe(first);
});

test("a server that has not answered yet gets more time, and its activity is reported", async () => {
  const define = open(1, { firstAnswerMs: 1_500 });
  const told: (string | undefined)[] = [];
  const { backend, ms } = await define((message) => told.push(message));
  expect(backend).toBe("tree-sitter");
  expect(ms).toBeGreaterThanOrEqual(1_500);
  expect(told[0]).toContain("starting");
  expect(told.at(-1)).toContain("reading 50 %");
});

test("a server that never completes its handshake is waited for once; later callers are answered at once", async () => {
  const define = open(0, { startMs: 2_500 });
  expect(await define()).toMatchObject({ backend: "tree-sitter" });
  const { backend, ms } = await define();
  expect(backend).toBe("tree-sitter");
  expect(ms).toBeLessThan(2_500);
});
