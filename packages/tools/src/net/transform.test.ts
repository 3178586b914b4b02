import { expect, test } from "vitest";
import { transform } from "./transform.ts";

const NEVER = new AbortController().signal;
/** On the main thread it would take half a second. Starting a thread and passing it the text costs some milliseconds. */
const MAX_WORK_US = 250_000;

test("a big page and big JSON are processed without blocking other calls", async () => {
  const row = '<div class="a"><p>Hello <a href="/x">world</a> and more text here</p></div>\n';
  const page = row.repeat(Math.ceil(2_000_000 / row.length));
  const json = JSON.stringify({
    items: Array.from({ length: 100_000 }, (_, id) => ({ id, name: `item ${id}` })),
  });
  // Not counted: loading the modules that start a thread.
  await transform({ kind: "json", text: JSON.stringify("x".repeat(100_000)), select: undefined }, NEVER);
  const before = process.threadCpuUsage();
  const { markdown } = await transform({ kind: "markdown", text: page, url: "https://e.test/" }, NEVER);
  const reading = await transform({ kind: "json", text: json, select: "items[99999].name" }, NEVER);
  const { user } = process.threadCpuUsage(before);
  expect(markdown.length).toBeGreaterThan(500_000);
  expect(reading).toMatchObject({ kind: "value", value: "item 99999" });
  expect(user).toBeLessThan(MAX_WORK_US);
});

test("small and big bodies give the same result, and cancelling ends the thread", async () => {
  for (const count of [1, 100_000])
    expect(
      (await transform({ kind: "markdown", text: "<p>x".repeat(count), url: "https://e.test/" }, NEVER))
        .markdown,
    ).toBe("x\n\n".repeat(count).slice(0, -1));
  const stop = new AbortController();
  const work = transform(
    { kind: "markdown", text: "<p>x".repeat(200_000), url: "https://e.test/" },
    stop.signal,
  );
  stop.abort();
  await expect(work).rejects.toThrow(/abort/i);
});
