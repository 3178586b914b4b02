import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { openShop } from "../../test/ui/shop.ts";
import { type Bench, type Case, expectEqual, toData } from "../case.ts";
import { toCallLine } from "../json-rpc.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const BROWSER = "/usr/bin/chromium";
const PAGE = `<!doctype html><title>Bench</title><h1>Bench</h1><button onclick="this.textContent = 'Clicked ' + ++n">Click</button><ul>${"<li>Entry <a href='#'>link</a></li>".repeat(50)}</ul><script>let n = 0;</script>`;
const NOTE = "floor: the same with Playwright itself, in a Chromium of its own, plus a no-op call";

const SNAPSHOT = "ui snapshot of 5 MB";
const MAX_TEXT_BYTES = 32 * 1024;

/** What our answer adds to Playwright: the way through MCP, the proxy, and what changed. */
export const ui: readonly Case[] = [
  {
    name: "ui click",
    run: (bench) =>
      compare(bench, "ui click", { action: "click", target: "button" }, (page) => page.click("button")),
  },
  {
    name: "ui navigate",
    run: (bench) => compare(bench, "ui navigate", { action: "navigate" }, (page, url) => page.goto(url)),
  },
  { name: SNAPSHOT, run: readLargePage },
];

/** The whole page of 5 MB is read, and as much of it answered as fits into 32 KiB. */
async function readLargePage({ octant, effort, random }: Bench): Promise<Row> {
  await using shop = await openShop();
  toData(await octant.exchange(toCallLine("ui", { action: "navigate", url: `${shop.url}/big` })), SNAPSHOT);
  try {
    const { octant: spread } = await interleave(
      {
        octant: () =>
          timed(async () => {
            // The data of ui.snapshot.
            const data = toData(
              await octant.exchange(toCallLine("ui", { action: "snapshot" })),
              SNAPSHOT,
            ) as {
              text: string;
              ref?: string;
            };
            if (Buffer.byteLength(data.text) > MAX_TEXT_BYTES) throw new Error("the answer exceeds 32 KiB");
            expectEqual(data.ref?.startsWith("blob:"), true, "a ref to the rest");
          }),
      },
      effort,
      random,
    );
    const note = "a page of 5 MB and 120,000 elements; the answer has 32 KiB of it, and a ref to the rest";
    return { name: SNAPSHOT, unit: "ms", octant: spread, figure: spread.p50, bar: atMost(3_000), note };
  } finally {
    await octant.exchange(toCallLine("ui", { action: "tabs", op: "quit" }));
  }
}

async function compare(
  { octant, noOp, effort, random }: Bench,
  name: string,
  call: { readonly action: string; readonly target?: string },
  direct: (page: Page, url: string) => Promise<unknown>,
): Promise<Row> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser: Browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    toData(await octant.exchange(toCallLine("ui", { action: "navigate", url })), name);
    const ours = call.action === "navigate" ? { ...call, url } : call;
    const spreads = await interleave(
      {
        octant: () => timed(async () => toData(await octant.exchange(toCallLine("ui", ours)), name)),
        noOp: () => timed(() => noOp.exchange(toCallLine("no_op", ours))),
        direct: () => timed(() => direct(page, url)),
      },
      effort,
      random,
    );
    const figure = spreads.octant.p50 / (spreads.direct.p50 + spreads.noOp.p50);
    return { name, unit: "ms", ...spreads, figure, bar: atMost(1.3), note: NOTE };
  } finally {
    await octant.exchange(toCallLine("ui", { action: "tabs", op: "quit" }));
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
