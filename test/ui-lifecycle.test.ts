// The ends of browsers and of the server.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lacks } from "./ui/lacks.ts";
import { openShop, type Shop } from "./ui/shop.ts";
import { openUi } from "./ui/ui-client.ts";

/** `UI_SESSIONS=50` opens as many as the issue requires; each costs a second on a busy machine. */
const SESSIONS = Number(process.env["UI_SESSIONS"] ?? 5);
const GONE_MS = 60_000;

/** The current descendants of a process. */
function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = new Set([pid]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
  }
  found.delete(pid);
  return [...found];
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
};
/** A zombie has no command line. */
const aliveOf = (pids: readonly number[]) => pids.filter((pid) => commandOf(pid) !== "");
const browsersBelow = (pid: number) => familyOf(pid).filter((one) => /chrom/.test(commandOf(one)));

/** The first kill may end the others too. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

async function until(holds: () => boolean): Promise<boolean> {
  const started = performance.now();
  while (!holds() && performance.now() - started < GONE_MS) await delay(50);
  return holds();
}

describe.skipIf(lacks("chromium") || process.platform !== "linux")("the life of a browser", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test("a killed page and a killed browser are typed errors, the next call works, and nothing is left", async () => {
    await using client = await openUi();
    await client.ui("navigate", { url: `${shop.url}/` });
    const isRenderer = (pid: number) => commandOf(pid).includes("--type=renderer");
    const renderers = browsersBelow(client.pid).filter(isRenderer);
    expect(renderers.length).toBeGreaterThan(0);
    const clicking = client.fails("click", { target: "#never", timeout: 60_000 });
    for (const pid of renderers) killIfAlive(pid);
    expect(await until(() => aliveOf(renderers).length === 0)).toBe(true);
    expect(await clicking).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("crashed"),
    });
    await expect
      .poll(() => client.fails("snapshot"), { timeout: GONE_MS })
      .toMatchObject({
        code: "UPSTREAM_ERROR",
        message: expect.stringContaining("ui.navigate"),
      });
    expect(await client.ui("navigate", { url: `${shop.url}/` })).toMatchObject({ title: "Shop" });
    expect((await client.ui("tabs", { op: "list" })).tabs).toHaveLength(1);

    const old = browsersBelow(client.pid);
    expect(old.length).toBeGreaterThan(3);
    const waiting = client.fails("wait", { text: "never", timeout: 60_000 });
    for (const pid of old) killIfAlive(pid);
    expect(await waiting).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("browser exited"),
    });
    expect(await until(() => aliveOf(old).length === 0)).toBe(true);
    expect(await client.ui("navigate", { url: `${shop.url}/` })).toMatchObject({ title: "Shop" });
  });

  test(`a killed server takes its browser along, the next one removes its folder, and of ${SESSIONS} profiles nothing is left`, async () => {
    const temp = mkdtempSync(join(tmpdir(), "octant-temp-"));
    onTestFinished(() => rmSync(temp, { recursive: true, force: true }));
    const folders = () => readdirSync(temp).filter((name) => name.startsWith("octant-browser-"));
    const killed = await openUi({ env: { TMPDIR: temp } });
    await killed.ui("navigate", { url: `${shop.url}/` });
    const orphans = familyOf(killed.pid);
    expect(orphans.length).toBeGreaterThan(3);
    process.kill(killed.pid, "SIGKILL");
    expect(await until(() => aliveOf(orphans).length === 0)).toBe(true);
    await killed[Symbol.asyncDispose]();

    const client = await openUi({ env: { TMPDIR: temp } });
    await client.ui("navigate", { url: `${shop.url}/` });
    expect(folders()).toHaveLength(1);
    // Helpers of the browser itself, for the network or the sound, may start at any time.
    const pages = () => browsersBelow(client.pid).filter((pid) => commandOf(pid).includes("--type=renderer"));
    const before = pages().length;
    for (let round = 0; round < SESSIONS / 5; round++) {
      const names = Array.from({ length: 5 }, (_, index) => `profile-${round}-${index}`);
      await Promise.all(names.map((profile) => client.ui("navigate", { url: `${shop.url}/cart`, profile })));
      await Promise.all(names.map((profile) => client.ui("tabs", { op: "quit", profile })));
    }
    expect((await client.ui("tabs", { op: "list" })).tabs).toHaveLength(1);
    expect(await until(() => pages().length <= before + 1)).toBe(true);
    const family = familyOf(client.pid);
    await client[Symbol.asyncDispose]();
    expect(await until(() => aliveOf(family).length === 0)).toBe(true);
    expect(folders()).toEqual([]);
  }, 180_000);
});
