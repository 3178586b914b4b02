import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, launchBrowser, openTab } from "../test/console/browser.ts";
import { openHubScene } from "../test/console/hub-scene.ts";
import { createModel } from "../test/console/model.ts";
import { openScene } from "../test/console/scene.ts";
import { openPage } from "../test/console-client.ts";

const FOLDER = join(import.meta.dirname, "../docs/pictures");

type Client = { call(tool: string, input: object): Promise<unknown> };

/** Calls of a client at work in the calculator. */
const CALLS: readonly (readonly [string, object])[] = [
  ["ws", { action: "detect" }],
  ["fs", { action: "list", uri: ".", depth: 2 }],
  ["fs", { action: "read", uri: "src/parser.js" }],
  ["fs", { action: "read", uri: "src/lexer.js" }],
  ["fs", { action: "search_text", pattern: "tokenize" }],
  ["search", { action: "query", query: "where is the text split into tokens?" }],
  ["code", { action: "outline", uri: "src/evaluate.js" }],
  ["vcs", { action: "status" }],
  ["vcs", { action: "log", limit: 5 }],
  [
    "fs",
    {
      action: "write",
      uri: "docs/grammar.md",
      content:
        "# Grammar\n\n    sum    = term { (+|-) term }\n    term   = factor { (*|/) factor }\n    factor = number | ( sum )\n",
    },
  ],
  ["proc", { action: "exec", command: ["node", "--check", "src/parser.js"] }],
  ["fs", { action: "stat", uri: "docs/grammar.md" }],
];

/** Draws docs/pictures/console-*.png: every view of the console, with real calls of real processes. */
export async function drawConsole(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  let root = "";
  await using scene = await openScene(
    createModel(() => root),
    { model: "claude-sonnet-5-5" },
  );
  root = scene.project.root;
  const browser = await launchBrowser(CHROMIUM);
  try {
    const { link } = await openPage(scene.link);
    const { page } = await openTab(browser, await link(), { theme: "dark", scale: 1.5 });
    await fill(page, scene.client);
    await drawViews(page);
    const phone = await openTab(browser, await link(), { size: "phone", scale: 2 });
    for (const view of ["approvals", "now", "sessions"]) await shoot(phone.page, view, `${view}-phone`);
    const light = await openTab(browser, await link(), { theme: "light", scale: 1.5 });
    await shoot(light.page, "now", "now-light");
    await drawHubViews(browser);
  } finally {
    await browser.close();
  }
}

/** The console of a hub, with a project's schedules and containers. */
async function drawHubViews(browser: Browser): Promise<void> {
  await using hub = await openHubScene({ model: "claude-sonnet-5-5" });
  const { page } = await openTab(browser, await hub.api.link(), { theme: "dark", scale: 1.5 });
  await shoot(page, `hub/schedules?project=${hub.project_id}`, "hub");
  await shoot(page, "hub/containers", "hub-containers");
  await shoot(page, `hub/sessions?project=${hub.project_id}`, "hub-sessions");
  const phone = await openTab(browser, await hub.api.link(), { size: "phone", scale: 2 });
  await shoot(phone.page, `hub/schedules?project=${hub.project_id}`, "hub-phone");
}

/** A finished session, one that waits, a test run, a command that runs. */
async function fill(page: Page, client: Client): Promise<void> {
  await client.call("test", { action: "run" });
  await go(page, "jobs");
  await page.locator(".row", { hasText: "1 failed" }).waitFor();
  await startSession(page, "Refuse unfinished expressions such as 1 +");
  await waitForQuestion(page);
  await go(page, "approvals");
  await page.locator(".question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("Nothing to approve").waitFor();
  await client.call("proc", {
    action: "exec",
    command:
      "for n in 1 2 3; do printf '\\033[32m✓\\033[0m built part %s\\n' $n; done; echo 'listening on http://127.0.0.1:5173'; exec cat",
    background: true,
  });
  await go(page, "live");
  for (const [tool, input] of CALLS) await client.call(tool, input);
  await startSession(page, "In the changelog, leave a note about the new error");
  await waitForQuestion(page);
}

async function startSession(page: Page, task: string): Promise<void> {
  await go(page, "sessions");
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByLabel("Task").fill(task);
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await page.getByRole("article", { name: "Session" }).waitFor();
}

const waitForQuestion = (page: Page) => page.locator(".nav-link .count").first().waitFor();

async function drawViews(page: Page): Promise<void> {
  await shoot(page, "now", "now");
  await shoot(page, "approvals", "approvals");
  await go(page, "live");
  await page
    .locator(".row", { hasText: /fs\.write.*OK/ })
    .first()
    .click();
  await shoot(page, undefined, "live");
  await go(page, "jobs");
  await page.locator(".row", { hasText: "1 failed" }).first().click();
  await page.locator(".test-failure").waitFor();
  await shoot(page, undefined, "tests");
  await go(page, "jobs?kind=commands");
  await page.locator(".row", { hasText: "built part" }).first().click();
  await page.locator(".terminal-line", { hasText: "listening" }).waitFor();
  await shoot(page, undefined, "command");
  await go(page, "sessions");
  await page.locator(".row", { hasText: "Refuse unfinished" }).first().click();
  await page.getByText("that says where the text ends").waitFor();
  await page.locator(".plan summary").click();
  await page.locator("details.call > summary", { hasText: "fs.apply_patch" }).click();
  await page.locator(".call-body .diff-row.added").first().waitFor();
  await page.locator("details.call > summary", { hasText: "fs.apply_patch" }).scrollIntoViewIfNeeded();
  await shoot(page, undefined, "session");
  await page.getByRole("tab", { name: "Time and cost" }).click();
  await page.locator(".chart canvas").waitFor();
  await shoot(page, undefined, "session-time");
  await shoot(page, "search?q=where%20is%20the%20text%20split%20into%20tokens", "search");
  await shoot(page, "files/src/parser.js", "files");
  await shoot(page, "audit", "audit");
  await go(page, "audit/explain");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.getByText("A person is asked").waitFor();
  await shoot(page, undefined, "policy");
  await shoot(page, "health", "health");
}

const go = (page: Page, hash: string) =>
  page.evaluate((place) => {
    location.hash = place;
  }, `#/${hash}`);

async function shoot(page: Page, hash: string | undefined, name: string): Promise<void> {
  if (hash !== undefined) await go(page, hash);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
  // Messages that come and go are not part of a view.
  await page.locator(".toast").first().waitFor({ state: "detached" });
  await page.locator(".answers button:disabled").first().waitFor({ state: "detached" });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `console-${name}.png`) });
  process.stdout.write(`console-${name}\n`);
}
