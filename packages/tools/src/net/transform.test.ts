import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import { transform } from "./transform.ts";

const NEVER = new AbortController().signal;
/** In place it would be a second. A thread costs some milliseconds; the rest is for a machine that is busy. */
const MAX_DELAY_MS = 250;

test("a big page and big JSON are worked on without holding up the others", async () => {
  const row = '<div class="a"><p>Hello <a href="/x">world</a> and more text here</p></div>\n';
  const page = row.repeat(Math.ceil(5_000_000 / row.length));
  const json = JSON.stringify({
    items: Array.from({ length: 100_000 }, (_, id) => ({ id, name: `item ${id}` })),
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  // Not counted: loading what starts a thread.
  await transform({ kind: "json", text: JSON.stringify("x".repeat(100_000)), select: undefined }, NEVER);
  delay.enable();
  const { markdown } = await transform({ kind: "markdown", text: page, url: "https://e.test/" }, NEVER);
  const reading = await transform({ kind: "json", text: json, select: "items[99999].name" }, NEVER);
  delay.disable();
  expect(markdown.length).toBeGreaterThan(1_000_000);
  expect(reading).toMatchObject({ kind: "value", value: "item 99999" });
  expect(delay.max / 1e6).toBeLessThan(MAX_DELAY_MS);
});

test("small and big bodies are worked on alike, and cancelling ends the thread", async () => {
  for (const count of [1, 100_000])
    expect(
      (await transform({ kind: "markdown", text: "<p>x".repeat(count), url: "https://e.test/" }, NEVER))
        .markdown,
    ).toBe("x\n\n".repeat(count).slice(0, -1));
  const stop = new AbortController();
  const work = transform(
    { kind: "markdown", text: "<p>x".repeat(1_000_000), url: "https://e.test/" },
    stop.signal,
  );
  stop.abort();
  await expect(work).rejects.toThrow(/abort/i);
});
