import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { launchBrowser, openTab } from "../../test/console/browser.ts";
import { openPage } from "../../test/console-client.ts";
import type { Bench, Case } from "../case.ts";
import { cpuOf } from "../cpu-time.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { type Spread, toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const CALLS_PER_SECOND = 5_000;
/** Calls that a client sends together; the time of the group is one sample. */
const GROUP = 20;
const GROUPS_PER_SECOND = CALLS_PER_SECOND / GROUP;
const MS_PER_SECOND = 1_000;
/** A full run lasts a minute with the page, a quick one 15 seconds. */
const LONG = 30;
const SHORT = 8;
const BYTES_PER_MB = 1_000_000;
const TABS = 10;
const LINE = toCallLine("job", { action: "status" });

interface Load {
  /** The time of a group of calls, in ms. */
  readonly times: Spread;
  /** Calls a second that were really made. */
  readonly rate: number;
}

/** Sends groups of calls at a steady rate, or as fast as they are answered when that is slower. */
async function load(server: RpcServer, ms: number): Promise<Load> {
  const lines = Array.from({ length: GROUP }, () => LINE);
  const samples: number[] = [];
  const start = performance.now();
  for (let group = 0; performance.now() - start < ms; group++) {
    const early = (group * MS_PER_SECOND) / GROUPS_PER_SECOND - (performance.now() - start);
    if (early > 1) await delay(early);
    const before = performance.now();
    await server.stream(lines, GROUP);
    samples.push(performance.now() - before);
  }
  const seconds = (performance.now() - start) / MS_PER_SECOND;
  return { times: toSpread(samples), rate: Math.round((samples.length * GROUP) / seconds) };
}

/** A server with a console, and a browser; the page looks at the other servers of the bench. */
async function openConsole({ startWire }: Bench) {
  await using parts = new AsyncDisposableStack();
  const child = startWire(["--http", "--port", "0", "--json"]);
  parts.defer(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  if (!child.stdout) throw new Error("its output is piped");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const api = await openPage(JSON.parse(String(line)).console);
  const browser = await launchBrowser();
  parts.defer(() => browser.close());
  const owned = parts.move();
  return {
    async open(view = "live"): Promise<Page> {
      const { page } = await openTab(browser, await api.link());
      await page.goto(`${api.origin}/console/#/${view}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      return page;
    },
    async another(page: Page): Promise<Page> {
      const tab = await page.context().newPage();
      await tab.goto(`${api.origin}/console/#/live`);
      await tab.getByRole("heading", { level: 1 }).waitFor();
      return tab;
    },
    link: () => api.link(),
    browser,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const toNote = ({ rate }: Load): string =>
  rate >= CALLS_PER_SECOND * 0.95
    ? `${rate} calls/s`
    : `${rate} calls/s, all that this machine makes of ${CALLS_PER_SECOND}`;

/** The client's p95 with tabs on the list of calls, against the same without a page. */
const underLoad = (name: string, tabs: number): Case => ({
  name,
  async run(bench): Promise<Row> {
    await using server = await bench.startOctant();
    await load(server, bench.effort.warmUpMs);
    const without = await load(server, bench.effort.budgetMs * SHORT);
    await using console = await openConsole(bench);
    const page = await console.open();
    while (page.context().pages().length < tabs) await console.another(page);
    const seen = await load(server, bench.effort.budgetMs * LONG);
    if ((await page.locator(".row").count()) === 0) throw new Error("the page saw no call");
    const note = `p95 of ${GROUP} calls together; ${toNote(seen)}; without a page ${toNote(without)}`;
    const figure = seen.times.p95 / without.times.p95;
    return { name, unit: "ms", octant: seen.times, noOp: without.times, figure, bar: atMost(1.1), note };
  },
});

const HEAP: Case = {
  name: "page heap under load",
  async run(bench): Promise<Row> {
    const { name } = HEAP;
    await using server = await bench.startOctant();
    await load(server, bench.effort.warmUpMs);
    await using console = await openConsole(bench);
    const page = await console.open();
    const seen = await load(server, bench.effort.budgetMs * LONG);
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    const bytes = metrics.find((metric) => metric.name === "JSHeapUsedSize")?.value ?? Number.NaN;
    const octant = toSpread([bytes / BYTES_PER_MB]);
    return { name, unit: "MB", octant, figure: octant.p50, bar: atMost(200), note: toNote(seen) };
  },
};

const LONGEST: Case = {
  name: "longest task of the page under load",
  async run(bench): Promise<Row> {
    const { name } = LONGEST;
    await using server = await bench.startOctant();
    await load(server, bench.effort.warmUpMs);
    await using console = await openConsole(bench);
    const page = await console.open();
    await page.evaluate(watchTasks);
    const seen = await load(server, bench.effort.budgetMs * LONG);
    const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
    // The browser reports tasks above 50 ms only.
    const octant = toSpread([Math.max(0, ...tasks)]);
    const note = `${tasks.length} tasks above 50 ms; ${toNote(seen)}`;
    return { name, unit: "ms", octant, figure: octant.p50, bar: atMost(100), note };
  },
};

/** Runs in the page. */
function watchTasks(): void {
  const tasks: number[] = [];
  Object.assign(globalThis, { tasks });
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe(
    { type: "longtask" },
  );
}

const FIRST_SCREEN: Case = {
  name: "first screen of the console",
  async run(bench): Promise<Row> {
    const { name } = FIRST_SCREEN;
    await using server = await bench.startOctant();
    await server.exchange(LINE);
    await using console = await openConsole(bench);
    const samples: number[] = [];
    while (samples.length < bench.effort.minRounds) {
      const context = await console.browser.newContext();
      const page = await context.newPage();
      const link = await console.link();
      const start = performance.now();
      await page.goto(link);
      await page.locator(".roster-row").first().waitFor();
      samples.push(performance.now() - start);
      await context.close();
    }
    const octant = toSpread(samples);
    const note = "from the link to the list of processes, in a new browser profile";
    return { name, unit: "ms", octant, figure: octant.p50, bar: atMost(1_000), note };
  },
};

const BURST = 2_000;

const UNOPENED: Case = {
  name: "calls beside a console without a page",
  async run(bench): Promise<Row> {
    const { name } = UNOPENED;
    await using server = await bench.startOctant();
    const lines = Array.from({ length: BURST }, (_, n) => toCallLine("job", { action: "status" }, n + 1));
    const burst = async () => {
      const before = cpuOf(server.pid);
      await server.stream(lines, GROUP);
      return cpuOf(server.pid) - before;
    };
    const bursts = async () => {
      const samples: number[] = [];
      while (samples.length < bench.effort.minRounds) samples.push(await burst());
      return toSpread(samples);
    };
    await bursts();
    const noOp = await bursts();
    await using _console = await openConsole(bench);
    const octant = await bursts();
    const note = `CPU of ${BURST} calls of job.status, to the same without a console`;
    return { name, unit: "ms", octant, noOp, figure: octant.p50 / noOp.p50, bar: atMost(1.05), note };
  },
};

export const consolePages: readonly Case[] = [
  FIRST_SCREEN,
  UNOPENED,
  underLoad("calls while a page is open", 1),
  underLoad("calls while ten tabs are open", TABS),
  HEAP,
  LONGEST,
];
