import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openTab, SIZES } from "./console/browser.ts";
import { row, useStage } from "./console/stage.ts";
import { openPage, type Place, startConsole } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { runOctant, startOctant } from "./octant-process.ts";

const stage = useStage();

/** A hub of the same person, which has other tools than a project. */
async function startHub({ cwd, env }: Place) {
  const hub = startOctant(["hub", "--engine", "local", "--port", "0", "--json"], { cwd, env });
  hub.stderr.resume();
  const [line] = await once(createInterface({ input: hub.stdout }), "line");
  return {
    origin: new URL(JSON.parse(String(line)).console).origin,
    async [Symbol.asyncDispose]() {
      hub.kill("SIGTERM");
      if (hub.exitCode === null && hub.signalCode === null) await once(hub, "exit");
    },
  };
}

const isListed = (command: string) =>
  expect
    .poll(async () => (await stage.api.processes()).map((one) => one.command), { timeout: 30_000 })
    .toContain(command);

test.for(["wide", "phone"] as const)(
  "a hub and a server of few tools break no view, and each is offered where it has the tool (%s)",
  async (size) => {
    const { project, env } = stage.scene;
    const at = { cwd: project.root, env };
    await using _hub = await startHub(at);
    await using small = await startSession(["--tools", "vcs"], at, { name: "small", version: "1" });
    await small.call("vcs", { action: "status" });
    await stage.call("proc", { action: "exec", command: `echo ${size}` });
    await isListed("hub");
    const { page, problems } = await openTab(stage.browser, await stage.link(), { size });
    const go = (place: string) => page.goto(`${stage.api.origin}/console/#/${place}`);
    await go("jobs");
    await row(page, `echo ${size}`).waitFor();
    const hub = (await stage.api.processes()).find(({ command }) => command === "hub");
    for (const place of [
      ...["sessions", "search", "files", "audit", "health", "live"],
      `health?process=${hub?.id}`,
    ]) {
      await go(place);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      expect(await page.getByRole("alert").count(), place).toBe(0);
    }
    await page.locator(".checks li", { hasText: "state folder" }).waitFor();
    await go("live");
    await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
    // Nothing was called that is not there.
    expect(await page.locator(".row", { hasText: "UNKNOWN_TOOL" }).count()).toBe(0);
    const offered = (select: string) => page.getByLabel("Process").getByText(select).count();
    expect(await offered("small 1")).toBe(1);
    expect(await offered("octant hub")).toBe(1);
    await go("search");
    await page.getByLabel("Search the project").waitFor();
    await expect.poll(() => offered("small 1")).toBe(0);
    expect(await offered("octant hub")).toBe(0);
    expect(await offered("claude-code 2.1.4")).toBe(1);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(SIZES[size].width);
    expect(problems).toEqual([]);
    await page.context().close();
  },
);

test("the Hub view opens the console of a hub that runs in another process", async () => {
  const { project, env } = stage.scene;
  await using hub = await startHub({ cwd: project.root, env });
  await isListed("hub");
  const { page } = await openTab(stage.browser, await stage.link());
  await page.locator(".roster-row", { hasText: "octant hub" }).click();
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Open the hub's console" }).click();
  const other = await opened;
  await other.getByRole("link", { name: "Hub" }).first().click();
  await other.getByRole("heading", { level: 1, name: "Hub" }).waitFor();
  expect(new URL(other.url()).origin).toBe(hub.origin);
  await other.getByRole("tab", { name: "Projects" }).waitFor();
  await page.context().close();
});

test("a hub does not stand in for the console of the machine; --hub opens its console", async () => {
  using project = createFixtureProject();
  const at = { cwd: project.root, env: project.env };
  const missing = await runOctant(["console", "--no-open", "--hub"], at);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain("no hub runs on this machine");
  await using hub = await startHub(at);
  await using console = await startConsole(at);
  expect(console.origin).not.toBe(hub.origin);
  const { me, processes } = await openPage(console.link);
  expect(me.hub).toBe(false);
  expect((await processes()).map(({ command }) => command)).toContain("hub");
  const printed = async (...args: string[]) =>
    runOctant(["console", "--no-open", "--json", ...args], at).then(({ stdout, stderr }) => ({
      origin: new URL(JSON.parse(stdout).url).origin,
      stderr,
    }));
  // The same folder needs no remark about another one.
  expect(await printed()).toEqual({ origin: console.origin, stderr: "" });
  expect(await printed("--hub")).toMatchObject({ origin: hub.origin });
});
