import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const serverFile = fileURLToPath(new URL("../testing/server.ts", import.meta.url));
const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start() {
  const child = spawn(process.execPath, [serverFile]);
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    exited: once(child, "exit"),
    send: (id: unknown, method: string, params?: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
    answer: async () => JSON.parse((await lines.next()).value ?? ""),
  };
}
const wait = { name: "demo", arguments: { action: "wait" }, _meta: { progressToken: 1 } };

test("a server whose input ends has nothing left that keeps it running", async () => {
  const { child, send, answer, exited } = start();
  send(1, "no/such/method");
  expect(await answer()).toMatchObject({ id: 1, error: { code: -32601 } });
  send(2, "tools/call", wait);
  expect(await answer()).toMatchObject({ method: "notifications/progress" });
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
});

test("a server whose reader is gone exits without a crash", async () => {
  const { child, send, answer, exited } = start();
  send(1, "ping");
  await answer();
  child.stdout.destroy();
  child.stdin.on("error", () => {});
  let complaint = "";
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  send(2, "ping");
  expect(await exited).toEqual([0, null]);
  expect(complaint).toBe("");
});

test("large answers arrive whole through a real pipe, with many calls in flight", async () => {
  const { send, answer } = start();
  const size = 500_000;
  const ids = Array.from({ length: 20 }, (_, id) => id);
  for (const id of ids) send(id, "tools/call", { name: "demo", arguments: { action: "big", size } });
  for (const id of ids) {
    const { result, ...rest } = await answer();
    expect(rest.id).toBe(id);
    expect(result.structuredContent.data.text).toHaveLength(size);
  }
});
