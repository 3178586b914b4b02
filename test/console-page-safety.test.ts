import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, newLink, openTab, SIZES } from "./console/browser.ts";
import { HOSTILE_STRINGS, poison } from "./console/hostile-strings.ts";
import { createModel } from "./console/model.ts";
import { openScene, type Scene } from "./console/scene.ts";
import { isHarmless } from "./hostile-characters.ts";

let browser: Browser;
let scene: Scene;
/** Stays open and makes the links of the others. */
let keeper: Page;
/** Addresses of everything that can be shown. */
let places: readonly string[];

beforeAll(async () => {
  scene = await openScene(createModel(() => scene.project.root));
  browser = await launchBrowser();
  ({ page: keeper } = await openTab(browser, scene.link));
  places = await fillScene(keeper);
});

afterAll(async () => {
  await browser?.close();
  await scene?.[Symbol.asyncDispose]();
});

/** Calls, a waiting session, a test run and a command, so that no view is empty. */
async function fillScene(page: Page): Promise<readonly string[]> {
  await go(page, "sessions");
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByLabel("Task").fill("Refuse unfinished expressions");
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await page.locator(".nav-link .count").first().waitFor();
  const session = new URL(page.url()).hash.slice(2);
  const wrote = await scene.client.call("fs", { action: "write", uri: "a.md", content: "# A\n" });
  await scene.client.call("fs", { action: "read", uri: "missing.js" });
  await scene.client.call("test", { action: "run" });
  await scene.client.call("proc", { action: "exec", command: "echo one; exec cat", background: true });
  await go(page, "jobs");
  await page.locator(".row", { hasText: "3 passed" }).click();
  const job = new URL(page.url()).hash.slice(2);
  await go(page, "jobs?kind=commands");
  await page.locator(".row").first().click();
  await page.locator(".terminal").waitFor();
  const command = new URL(page.url()).hash.slice(2);
  const trace = wrote.meta["trace_id"];
  const fixed =
    "now approvals live jobs jobs?kind=commands sessions search?q=tokenize files files/src/parser.js files?part=undo";
  const audit = "audit audit/explain audit/settings audit/sandbox hub health";
  return [...fixed.split(" "), ...audit.split(" "), session, job, command, `live/${trace}`];
}

const go = (page: Page, hash: string) =>
  page.evaluate((place) => {
    location.hash = place;
  }, `#/${hash}`);

/** Waits until the view has what it reads. */
async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
}

describe.each([
  ["wide", "light"],
  ["wide", "dark"],
  ["phone", "dark"],
] as const)("at the size %s in the %s theme", (size, theme) => {
  test("axe finds no serious problem in any view", async () => {
    const { page } = await openTab(browser, await newLink(keeper), { size, theme });
    const found: string[] = [];
    for (const place of places) {
      await go(page, place);
      await settle(page);
      const { violations } = await new AxeBuilder({ page })
        .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])
        .analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      found.push(
        ...serious.map(
          ({ id, nodes }) => `${place}: ${id} ${nodes[0]?.target} ${nodes[0]?.failureSummary ?? ""}`,
        ),
      );
    }
    expect(found).toEqual([]);
    await page.context().close();
  });
});

test.each(["wide", "phone"] as const)(
  "300 hostile strings in every text of others run nothing and escape nowhere, at the size %s",
  async (size) => {
    const { page, problems } = await openTab(browser, await newLink(keeper), { size });
    const used = new Set<string>();
    let count = size === "wide" ? 0 : 150;
    const next = () => {
      const text = HOSTILE_STRINGS[count++ % HOSTILE_STRINGS.length]!;
      used.add(text);
      return text;
    };
    page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
    page.on("framenavigated", (frame) => {
      if (!frame.url().includes("/console/")) problems.push(`left for ${frame.url()}`);
    });
    await page.route("**/console/api/{processes,call}", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: poison(await response.json(), next) });
    });
    await page.reload();
    for (const place of places) {
      await go(page, place);
      await settle(page);
      for (const tab of await page.getByRole("tab").all()) await tab.click();
      for (const fold of await page.locator("main details:not([open]) > summary").all())
        await fold.click({ timeout: 2_000 }).catch(() => {});
      const seen = await page.evaluate(inspect);
      expect(seen.ran, place).toBe(false);
      expect(seen.foreign, place).toEqual([]);
      expect(seen.width, place).toBeLessThanOrEqual(SIZES[size].width);
      expect(seen.covered, place).toBe(false);
      expect(isHarmless(seen.text), `${place}: ${JSON.stringify(seen.text.match(HIDDEN)?.[0])}`).toBe(true);
    }
    expect(problems.filter((problem) => !/40[34]/.test(problem))).toEqual([]);
    expect(used.size).toBeGreaterThanOrEqual(300);
    const me = await keeper.evaluate(async () => (await fetch("/console/api/me")).json());
    expect(me.csp_reports).toBe(0);
    await page.context().close();
  },
  300_000,
);

const HIDDEN =
  /.{0,20}[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}].{0,20}/su;

/** Runs in the page. */
function inspect() {
  const text: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) text.push(node.nodeValue ?? "");
  const elements = [
    ...document.querySelectorAll(
      "script, iframe, object, embed, style, base, meta, link, math, form[action]",
    ),
  ];
  const handlers = [...document.querySelectorAll("#app *")].filter((element) =>
    element.getAttributeNames().some((name) => name.startsWith("on") || name === "srcdoc"),
  );
  const links = [...document.querySelectorAll("a[href]")].filter(
    (link) => !/^(?:#|https?:)/.test(link.getAttribute("href") ?? ""),
  );
  const pictures = [...document.querySelectorAll("img")].filter(
    (image) => !image.src.startsWith("data:image/"),
  );
  const foreign = [
    ...elements.filter((element) => !document.head.contains(element)),
    ...handlers,
    ...links,
    ...pictures,
  ];
  // The navigation must stay reachable: nothing may cover it.
  const nav = [...document.querySelectorAll("nav[aria-label=Views]")].find(
    (element) => element.clientHeight > 0,
  );
  const box = nav?.getBoundingClientRect();
  const top = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return {
    ran: "__ran" in window,
    foreign: foreign.map((element) => element.outerHTML.slice(0, 200)),
    width: document.documentElement.scrollWidth,
    covered: !(nav && top && nav.contains(top)),
    text: text.join("\n"),
  };
}
