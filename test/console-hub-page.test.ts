import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBarriers } from "./console/barriers.ts";
import { launchBrowser, openTab, SIZES, type Tab } from "./console/browser.ts";
import { type HubScene, openHubScene } from "./console/hub-scene.ts";

const PARTS = [
  "Projects",
  "Sessions",
  "Containers",
  "Workspaces",
  "Schedules",
  "Tokens",
  "Hosts",
  "Limits",
] as const;

let browser: Browser;
let scene: HubScene;
beforeAll(async () => {
  scene = await openHubScene();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await scene?.[Symbol.asyncDispose]();
});

describe.each(["wide", "phone"] as const)("the hub's view at the size %s", (size) => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await openTab(browser, await scene.api.link(), { size });
    await tab.page.evaluate(() => {
      location.hash = "#/hub";
    });
    await tab.page.getByRole("heading", { level: 1, name: "Hub" }).waitFor();
  });
  afterAll(() => tab?.page.context().close());
  const open = async (part: (typeof PARTS)[number]): Promise<Page> => {
    await tab.page.getByRole("tab", { name: part }).click();
    return tab.page;
  };
  const line = (page: Page, text: string | RegExp) => page.locator("tbody tr", { hasText: text }).first();

  test("projects have their source, model and description, and lead to their sessions", async () => {
    const page = await open("Projects");
    expect(await line(page, "website").textContent()).toContain("started empty");
    const calculator = line(page, "calculator");
    expect(await calculator.textContent()).toMatch(/some-model.*Parses and evaluates arithmetic/);
    await calculator.getByRole("link", { name: "calculator" }).click();
    await page.getByRole("tab", { name: "Sessions", selected: true }).waitFor();
    expect(await page.getByLabel("Project", { exact: true }).inputValue()).toBe(scene.project_id);
  });

  test("sessions have their state and say why they failed", async () => {
    const page = await open("Sessions");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    await line(page, /error.*the tools in the container ended/).waitFor();
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "website" });
    await page.getByText("No sessions in this project").waitFor();
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    await line(page, "error").waitFor();
  });

  test("a session opens with its transcript, its changes and the way to merge them", async () => {
    const page = await open("Sessions");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    await line(page, "error").getByRole("link").click();
    const session = page.getByRole("article", { name: "Session" });
    await session
      .getByText(/the tools in the container ended/)
      .first()
      .waitFor();
    await session.getByRole("tab", { name: "Changes" }).click();
    await session.getByText("No changes yet").waitFor();
    await session.getByRole("button", { name: "Merge" }).click();
    await page.getByText("the workspace has no commits, so nothing was merged").waitFor();
    await page.reload();
    await session.getByText("No changes yet").waitFor();
    await session.getByRole("link", { name: "Back to the list" }).click();
    await line(page, "error").waitFor();
  });

  test("only views that a hub can fill are offered", async () => {
    const links = tab.page.getByRole("navigation").getByRole("link");
    expect(await links.allTextContents()).not.toContain("Files");
    expect((await links.allTextContents()).join()).toContain("Now");
  });

  test("containers show what they use of their limits, and are started and stopped", async () => {
    const page = await open("Containers");
    const card = page.getByRole("listitem", { name: "calculator" });
    await card.getByText("running", { exact: true }).waitFor();
    await card.locator(".usages", { hasText: /Disk.*of 2\.0 GB/ }).waitFor();
    const website = page.getByRole("listitem", { name: "website" });
    await website.getByRole("button", { name: "Start" }).click();
    await website.getByText("running", { exact: true }).waitFor();
    await website.getByRole("button", { name: "Stop" }).click();
    await website.getByText("stopped", { exact: true }).waitFor();
  });

  test("workspaces have their branch and base", async () => {
    const page = await open("Workspaces");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    expect(await line(page, "login").textContent()).toMatch(/[0-9a-f]{10}/);
  });

  test("schedules are in a calendar of seven days, a paused one is not", async () => {
    const page = await open("Schedules");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    const week = page.getByRole("list", { name: "The next seven days" });
    await week.locator(".planned", { hasText: "nightly" }).first().waitFor();
    expect(await week.getByRole("listitem").count()).toBe(7);
    expect(await week.locator(".planned", { hasText: "nightly" }).count()).toBeGreaterThanOrEqual(6);
    expect(await week.locator(".planned", { hasText: "audit" }).count()).toBe(0);
    expect(await line(page, "audit").textContent()).toContain("paused");
    expect(await line(page, "nightly").textContent()).toMatch(/30 2 \* \* \*.*Europe\/Berlin/);
  });

  test("a project that is chosen right after a part leads to that part", async () => {
    const page = await open("Workspaces");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "website" });
    await page.getByText("No workspaces in this project").waitFor();
    await page.evaluate((project_id) => {
      const part = [...document.querySelectorAll<HTMLElement>("[role=tab]")].find(
        ({ textContent }) => textContent === "Schedules",
      );
      const project = document.querySelector<HTMLSelectElement>("select[aria-label=Project]");
      part?.click();
      if (project) project.value = project_id;
      project?.dispatchEvent(new Event("change", { bubbles: true }));
    }, scene.project_id);
    await page.locator(".planned", { hasText: "nightly" }).first().waitFor();
    expect(page.url()).toContain("#/hub/schedules");
  });

  test("an answer that takes longer than the view waits until it reads again is shown", async () => {
    const { page } = tab;
    // Each of these answers takes until the view has read twice more.
    let waiting: { left: number; send(): void }[] = [];
    await page.route("**/console/api/call", async (route) => {
      const { tool, action } = route.request().postDataJSON();
      if (tool === "schedule" && action === "list")
        waiting = waiting.filter((one) => --one.left > 0 || one.send());
      if (action === "upcoming") await new Promise<void>((send) => waiting.push({ left: 2, send }));
      // The page may have given it up.
      await route.continue().catch(() => {});
    });
    await page.reload();
    await open("Schedules");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    await page.locator(".planned", { hasText: "nightly" }).first().waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("tokens name their project, and never show their text", async () => {
    const page = await open("Tokens");
    expect(await line(page, "bob").textContent()).toContain("calculator");
    expect(await line(page, "dashboard").textContent()).toContain("everything, read only");
    expect(await page.locator("body").textContent()).not.toContain("oct_");
  });

  test("hosts name this machine and its engine", async () => {
    const page = await open("Hosts");
    await page.locator(".engine", { hasText: "local" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
  });

  test("limits of a project are beside those of new ones, in words", async () => {
    const page = await open("Limits");
    await page.getByLabel("Project", { exact: true }).selectOption({ label: "calculator" });
    expect(await line(page, "Memory of the container").textContent()).toMatch(/512 MB.*no limit/);
    expect(await line(page, "Sessions at work at once").textContent()).toContain("10");
  });

  test("no part has a serious problem of access, and none is wider than the screen", async () => {
    const found: string[] = [];
    for (const part of PARTS) {
      const page = await open(part);
      await page.locator(".loading").first().waitFor({ state: "detached" });
      const barriers = await findBarriers(page);
      found.push(...barriers.map(({ id, target, summary }) => `${part}: ${id} ${target} ${summary}`));
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, part).toBeLessThanOrEqual(SIZES[size].width);
    }
    expect(found).toEqual([]);
    expect(tab.problems).toEqual([]);
  });
});
