import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHROMIUM, launchBrowser, openTab } from "./console/browser.ts";
import { openScene, type Scene } from "./console/scene.ts";
import { LAUNCHER } from "./published-command.ts";

const KB = 1_000;
const MAX_FIRST_LOAD_BYTES = 40 * KB;
const MAX_HEAP_BYTES = 200 * KB * KB;
/** CPU time of one task of the main thread. */
const MAX_TASK_MS = 100;

let browser: Browser;
let scene: Scene;

beforeAll(async () => {
  scene = await openScene(() => ({ parts: [{ text: "Hello." }] }));
  browser = await launchBrowser(CHROMIUM);
});

afterAll(async () => {
  await browser?.close();
  await scene?.[Symbol.asyncDispose]();
});

test("the first load is at most 40 KB, and charts, terminal and diff view come later", () => {
  const folder = join(dirname(LAUNCHER), "../dist/page");
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const first = [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(first.length).toBeGreaterThan(1);
  const bytes = ["index.html", ...first].map((path) => readFileSync(join(folder, `${path}.gz`)).length);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES);
  expect(first.join(" ")).not.toMatch(/terminal|chart|diff/);
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)/);
});

test("the first screen needs few requests, and ten tabs of one browser see the same call", async () => {
  const { page: first } = await openTab(browser, scene.link);
  const requests = await first.evaluate(() => performance.getEntriesByType("resource").length);
  expect(requests).toBeLessThanOrEqual(12);
  const address = `${new URL(scene.link).origin}/console/#/live`;
  const pages: Page[] = [first];
  // A browser opens at most six connections to a server, so the tabs have to share one.
  while (pages.length < 10) pages.push(await first.context().newPage());
  await Promise.all(pages.map((page) => page.goto(address)));
  await Promise.all(pages.map((page) => page.getByRole("heading", { name: "Live" }).waitFor()));
  await scene.client.call("fs", { action: "stat", uri: "package.json" });
  await Promise.all(pages.map((page) => page.locator(".row", { hasText: "fs.stat" }).waitFor()));
  // The tab with the connection goes; another one takes over.
  await Promise.all(pages.slice(0, 8).map((page) => page.close()));
  await scene.client.call("fs", { action: "list", uri: "src" });
  await Promise.all(pages.slice(8).map((page) => page.locator(".row", { hasText: "fs.list" }).waitFor()));
  await pages[8]?.close();
});

test("a page that is away catches up with the calls in between", async () => {
  const page = browser.contexts()[0]?.pages()[0];
  if (!page) throw new Error("the first tab is open");
  await page.route("**/console/api/events*", (route) => route.abort());
  await page.reload();
  await page.getByText("Connection lost.").waitFor();
  await page.unroute("**/console/api/events*");
  await expect.poll(() => page.getByText("Connection lost.").count(), { timeout: 30_000 }).toBe(0);
  await scene.client.call("fs", { action: "stat", uri: "README.md" });
  await page.locator(".row", { hasText: "fs.stat" }).waitFor();
});

test("120,000 calls in bulk leave the page responsive, small, and its list smooth", async () => {
  const page = browser.contexts()[0]?.pages()[0];
  if (!page) throw new Error("the first tab is open");
  let sent = 0;
  await page.route("**/console/api/events*", (route) => {
    const body = sent === 0 ? toStream(120_000) : "";
    sent += 1;
    return sent === 1 ? route.fulfill({ contentType: "text/event-stream", body }) : route.abort();
  });
  await browser.startTracing(page, {
    categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await page.reload();
  await page.locator(".row", { hasText: "call_119999" }).waitFor();
  for (const position of [0.1, 0.5, 0.9]) {
    await page
      .locator(".virtual-list")
      .evaluate((list, share) => list.scrollTo(0, list.scrollHeight * share), position);
    const index = await page.locator(".virtual-list").evaluate((list) => Math.floor(list.scrollTop / 32));
    await page.locator(`.row[aria-posinset="${index + 2}"]`).waitFor();
  }
  expect(await page.locator(".row").count()).toBeLessThan(80);
  await page.getByLabel("Filter calls").fill("call_77");
  await page.locator(".row", { hasText: "call_7799" }).first().waitFor();
  const trace = JSON.parse((await browser.stopTracing()).toString());
  const tasks: number[] = trace.traceEvents
    .filter(({ name, pid }: TraceEvent) => name.endsWith("RunTask") && pid === rendererOf(trace.traceEvents))
    .map(({ tdur = 0 }: TraceEvent) => tdur / 1_000);
  expect(tasks.length).toBeGreaterThan(100);
  expect(Math.max(...tasks)).toBeLessThanOrEqual(MAX_TASK_MS);
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  expect(metrics.find(({ name }) => name === "JSHeapUsedSize")?.value).toBeLessThan(MAX_HEAP_BYTES);
});

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  /** Microseconds of CPU time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The process that drew the page: the one with the most script. */
function rendererOf(events: readonly TraceEvent[]): number {
  const counts = Map.groupBy(
    events.filter(({ name }) => name === "FunctionCall"),
    ({ pid }) => pid,
  );
  return [...counts].sort((a, b) => b[1].length - a[1].length)[0]?.[0] ?? 0;
}

/** What the server sends when very many calls happen: batches, at most every 50 ms. */
function toStream(count: number): string {
  const messages = ['id: 1\ndata: {"events":[],"lost":0}\n\n'];
  const batch = 250;
  for (let start = 0; start < count; start += batch) {
    const events = Array.from({ length: batch }, (_, offset) => {
      const number = start + offset;
      const event = {
        trace_id: `trace_${number}`,
        tool: "load",
        action: `call_${number}`,
        caller: "a-client",
        started_at: 1_790_000_000_000 + number,
        duration_ms: number % 90,
        code: number % 10 === 0 ? "CONFLICT" : "OK",
        answer_bytes: number,
      };
      return { seq: number + 2, at: event.started_at, process: "p", topic: "calls", event };
    });
    messages.push(`id: ${start + batch + 1}\ndata: ${JSON.stringify({ events })}\n\n`);
  }
  return messages.join("");
}
