import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { openShop } from "../../test/ui/shop.ts";
import { openUi } from "../../test/ui/ui-client.ts";
import type { Torture } from "./report.ts";

const AT_ONCE = 5;
/** Playwright, the first browser and compiled code stay in memory. */
const WARM_UP = 10;
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
const MAX_WAIT_MS = 30_000;
/** Chromium sometimes keeps a spare renderer. */
const MAX_SPARE = 1;

/** `count` profiles opened and closed: no page and no process is left, and the server's memory is back to normal. */
export const uiSessions: Torture = async (count, _random, onProgress) => {
  await using shop = await openShop();
  await using client = await openUi();
  const play = async (sessions: number, first: number) => {
    for (let done = 0; done < sessions; done += AT_ONCE) {
      const names = Array.from(
        { length: Math.min(AT_ONCE, sessions - done) },
        (_, n) => `p${first + done + n}`,
      );
      await Promise.all(
        names.map((profile) => client.ui("navigate", { url: `${shop.url}/product/1`, profile })),
      );
      await Promise.all(names.map((profile) => client.ui("click", { target: "#buy", profile })));
      await Promise.all(names.map((profile) => client.ui("tabs", { op: "quit", profile })));
      onProgress(Math.min(count, done + AT_ONCE));
    }
  };
  await client.ui("navigate", { url: `${shop.url}/` });
  await play(WARM_UP, count);
  const processes = browsersBelow(client.pid).length;
  const before = rssOf(client.pid);
  await play(count, 0);
  const end = performance.now() + MAX_WAIT_MS;
  while (browsersBelow(client.pid).length > processes + MAX_SPARE && performance.now() < end)
    await sleep(100);
  const left = browsersBelow(client.pid).length - processes;
  const grown = rssOf(client.pid) - before;
  const { tabs } = await client.ui("tabs", { op: "list" });
  return {
    what: "browser sessions opened and closed",
    facts: `${count} sessions, ${tabs.length - 1} tabs and ${Math.max(0, left)} processes left, server ${toMegabytes(before)} MB, then ${toMegabytes(grown)} MB more`,
    violations: [
      ...(tabs.length === 1 ? [] : [`${tabs.length - 1} tabs are left`]),
      ...(left <= MAX_SPARE ? [] : [`${left} processes of the browser are left`]),
      ...(grown <= MAX_GROWTH_BYTES ? [] : [`the server has grown by ${toMegabytes(grown)} MB`]),
    ],
  };
};

const toMegabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);

const rssOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Chromium's processes among the descendants of a process. */
function browsersBelow(pid: number): number[] {
  const parents = new Map<number, number>();
  const commands = new Map<number, string>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
      commands.set(Number(name), readFileSync(`/proc/${name}/cmdline`, "utf8"));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter((one) => isBelow(one) && /chrom/.test(commands.get(one) ?? ""));
}
