import { expect, test, vi } from "vitest";
import type { CallRow } from "../packages/console/src/api.ts";
import { openPage, startConsole } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";

const WAIT = { timeout: 40_000, interval: 100 };

test("a page that lost its connection catches up; one that was away too long is told what it lost", async () => {
  using project = createFixtureProject();
  const at = { cwd: project.root, env: project.env };
  await using console = await startConsole(at);
  const page = await openPage(console.link);
  await using octant = await startSession([], at);
  const read = () => octant.call("fs", { action: "read", uri: "package.json" });
  using keeper = await page.follow();
  // As the page does once it is connected; from here on all processes are attended.
  await page.processes();
  const first = await page.follow();
  await read();
  await vi.waitFor(() => expect(first.of("calls")).toHaveLength(1), WAIT);
  first[Symbol.dispose]();
  await read();
  await read();
  await vi.waitFor(() => expect(keeper.of("calls")).toHaveLength(3), WAIT);
  using again = await page.follow(first.last());
  await vi.waitFor(() => expect(again.of("calls")).toHaveLength(2), WAIT);
  expect(again.lost()).toBe(0);
  const numbers = keeper.events.map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));

  // Numbers of another run of the console.
  using old = await page.follow(7);
  await vi.waitFor(() => expect(old.lost()).toBeGreaterThan(0), WAIT);
}, 60_000);

test("while nobody looks, calls are not recorded", async () => {
  using project = createFixtureProject();
  const at = { cwd: project.root, env: project.env };
  await using octant = await startSession([], at);
  const before = await octant.call("fs", { action: "read", uri: "package.json" });
  await using console = await startConsole(at);
  const page = await openPage(console.link);
  const id = (await page.processes()).find(({ pid }) => pid === octant.pid)?.id ?? "";
  const find = (trace_id: unknown) => page.call(id, "console", "call", { trace_id });
  const { trace_id } = before.meta;
  expect(await find(trace_id)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  // It is listed all the same, with what everybody may know of it.
  const row = async () => (await page.get("calls")).calls.find((one: CallRow) => one.trace_id === trace_id);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ tool: "fs", code: "OK" }), WAIT);
  using _stream = await page.follow();
  await page.processes();
  const seen = await octant.call("fs", { action: "read", uri: "package.json" });
  expect(await find(seen.meta["trace_id"])).toMatchObject({ ok: true });
  const secret = `${"gh"}p_${"a1B2".repeat(9)}`;
  const asked = await octant.call("fs", {
    action: "write",
    uri: "key.txt",
    content: `token ${secret}\n`,
    base_hash: null,
  });
  const shown = JSON.stringify(await find(asked.meta["trace_id"]));
  expect(shown).toContain("key.txt");
  expect(shown).not.toContain(secret);
}, 60_000);
