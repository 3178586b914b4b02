import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findBarriers } from "./console/barriers.ts";
import { openTab, SIZES } from "./console/browser.ts";
import { HOSTILE_STRINGS } from "./console/hostile-strings.ts";
import { createPoisonedConsole } from "./console/poisoned-console.ts";
import { sessionIn, startTask, useStage } from "./console/stage.ts";
import { isHarmless } from "./hostile-characters.ts";

const stage = useStage();
const { call } = stage;
/** Addresses of everything that can be shown. */
let places: readonly string[];
let sessions: readonly string[];

beforeAll(async () => {
  // Calls are recorded while somebody looks.
  await using looking = new AsyncDisposableStack();
  looking.use(await stage.api.follow());
  await stage.api.processes();
  places = await fillScene();
});

/** Calls, a finished and a waiting session, a test run and a command, so that no view is empty. */
async function fillScene(): Promise<readonly string[]> {
  const waiting = await startTask(stage, "Refuse unfinished expressions");
  const finished = await startTask(stage, "hello");
  await sessionIn(stage, waiting, "waiting");
  await sessionIn(stage, finished, "idle");
  sessions = [waiting, finished];
  const wrote = await call("fs", { action: "write", uri: "a.md", content: "# A\n" });
  await call("fs", { action: "read", uri: "missing.js" });
  const tested = await call("test", { action: "run" });
  const command = await call("proc", { action: "exec", command: "echo one; exec cat", background: true });
  const fixed =
    "now approvals live jobs jobs?kind=commands sessions search?q=tokenize files files/src/parser.js files?part=undo";
  const audit = "audit audit/explain audit/settings audit/sandbox hub health";
  return [
    ...`${fixed} ${audit}`.split(" "),
    ...sessions.map((id) => `sessions/${id}`),
    `jobs/${tested.meta["job_id"] ?? Object(tested.data).run_id}`,
    `jobs/${command.data?.["proc_id"]}?kind=commands`,
    `live/${wrote.meta["trace_id"]}`,
  ];
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

test.each(["wide", "phone"] as const)(
  "axe finds no serious problem in any view at the size %s",
  async (size) => {
    const { page } = await openTab(stage.browser, await stage.link(), { size });
    const found: string[] = [];
    for (const place of places) {
      await go(page, place);
      await settle(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`:root[data-theme=${colorScheme}]`).waitFor();
        // Themes differ in their colours alone.
        const barriers = await findBarriers(page, colorScheme === "light" ? undefined : "color-contrast");
        found.push(
          ...barriers.map(({ id, target, summary }) => `${place} ${colorScheme}: ${id} ${target} ${summary}`),
        );
      }
    }
    expect(found).toEqual([]);
    await page.context().close();
  },
);

/** Four appearances of a field have all strings: two walks at each size. */
const WALKS = 2;

test("300 hostile strings in every text of others, also of events, run nothing and escape nowhere", async () => {
  using poisoned = await createPoisonedConsole(stage.api.origin);
  for (const size of ["wide", "phone"] as const)
    for (let walk = 0; walk < WALKS; walk++) {
      const { pathname, search } = new URL(await stage.link());
      const { page, problems } = await openTab(stage.browser, `${poisoned.origin}${pathname}${search}`, {
        size,
      });
      page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
      page.on("framenavigated", (frame) => {
        if (!frame.url().includes("/console/")) problems.push(`left for ${frame.url()}`);
      });
      for (const place of places) {
        await go(page, place);
        await settle(page);
        await makeNews();
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
      await page.context().close();
    }
  const fields = [...poisoned.poison.fields()];
  expect(fields.filter(([, count]) => count < HOSTILE_STRINGS.length)).toEqual([]);
  expect(fields.length).toBeGreaterThan(60);
  expect(fields.filter(([field]) => field.startsWith("event.")).length).toBeGreaterThan(10);
  expect(poisoned.events()).toBeGreaterThan(100);
  expect((await stage.api.get("me")).csp_reports).toBe(0);
}, 600_000);

/** Events of a call and of a session, for the view that is open. */
async function makeNews(): Promise<void> {
  const [, session_id = ""] = sessions;
  const { id } = await sessionIn(stage, session_id, "idle");
  await stage.api.call(id, "console", "message", { session_id, message: "thank you" });
  await call("fs", { action: "read", uri: "missing.js" });
}

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
  const pictures = [...document.querySelectorAll("img, video, audio, source")];
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
