import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, newLink, openTab, SIZES, type Tab } from "./console/browser.ts";
import { createModel } from "./console/model.ts";
import { openScene, type Scene } from "./console/scene.ts";

let browser: Browser;
let scene: Scene;
/** For the next tab: a link works once. */
let link: string;

beforeAll(async () => {
  scene = await openScene(createModel(() => scene.project.root));
  link = scene.link;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await scene?.[Symbol.asyncDispose]();
});

const go = (page: Page, hash: string) =>
  page.evaluate((place) => {
    location.hash = place;
  }, `#/${hash}`);

const row = (page: Page, text: string) => page.locator(".row", { hasText: text }).first();
const call = (tool: string, input: object) => scene.client.call(tool, input);
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

describe.each(["wide", "phone"] as const)("the console at the size %s", (size) => {
  let tab: Tab;
  let page: Page;

  beforeAll(async () => {
    await call("ws", { action: "detect" });
    tab = await openTab(browser, link, { size });
    page = tab.page;
    link = await newLink(page);
  });

  afterAll(async () => {
    await page?.context().close();
  });

  test("Now lists the server that another client started, and that nothing waits", async () => {
    await shows(page, "Nothing waits for you.");
    const server = page.locator(".roster-row", { hasText: "claude-code 2.1.4" });
    await server.waitFor();
    expect(await server.textContent()).toContain("octant serve");
    expect(await server.getAttribute("href")).toContain("#/live?process=");
  });

  test("navigation has a link for every view, and the current one is marked", async () => {
    const nav = page.getByRole("navigation", { name: "Views" }).locator("visible=true").first();
    await nav.getByRole("link", { name: "Live" }).click();
    await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
    expect(await nav.getByRole("link", { name: "Live" }).getAttribute("aria-current")).toBe("page");
    if (size === "wide") return;
    await nav.getByRole("button", { name: "More" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Live shows calls while they happen, failed ones with their code", async () => {
    await go(page, "live");
    await call("fs", { action: "read", uri: "src/parser.js" });
    await call("fs", { action: "read", uri: "missing.js" });
    await row(page, "NOT_FOUND").waitFor();
    await row(page, "fs.read").waitFor();
  });

  test("Live filters by words and outcome, and the filter is in the address", async () => {
    await call("vcs", { action: "status" });
    await row(page, "vcs.status").waitFor();
    await page.getByLabel("Filter calls").fill("fs.read not_found");
    await expect.poll(() => page.locator(".row", { hasText: "vcs.status" }).count()).toBe(0);
    expect(page.url()).toContain("q=fs.read");
    await page.getByLabel("Filter calls").fill("");
    await page.getByRole("button", { name: "Failed" }).click();
    await expect.poll(() => page.locator(".row", { hasText: "vcs.status" }).count()).toBe(0);
    await row(page, "NOT_FOUND").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await row(page, "vcs.status").waitFor();
  });

  test("Live can be paused; new calls wait until it continues", async () => {
    await page.getByRole("button", { name: "Pause" }).click();
    await call("fs", { action: "stat", uri: "package.json" });
    await page.getByRole("button", { name: "1 new call" }).waitFor();
    expect(await page.locator(".row", { hasText: "fs.stat" }).count()).toBe(0);
    await page.getByRole("button", { name: "Continue" }).click();
    await row(page, "fs.stat").waitFor();
  });

  test("a call opens with its request, its envelope and its change as a diff", async () => {
    await call("fs", { action: "write", uri: `from-${size}.md`, content: "# Title\nsecond line\n" });
    await row(page, "fs.write").click();
    const panel = page.getByRole("complementary", { name: "Call" });
    await panel.locator(".diff-row.added", { hasText: "second line" }).waitFor();
    await panel.getByRole("tab", { name: /Answer/ }).click();
    await panel.getByText('"ok": true').waitFor();
    await panel.getByRole("tab", { name: /Request/ }).click();
    await panel.getByText(`"uri": "from-${size}.md"`).waitFor();
  });

  test("a call is copied as a command and runs again after a question", async () => {
    await page.getByRole("button", { name: "Close" }).click();
    await row(page, "fs.stat").click();
    const panel = page.getByRole("complementary", { name: "Call" });
    await panel.getByRole("button", { name: "Copy as a command" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "octant call fs.stat uri=package.json",
    );
    await panel.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run it" }).click();
    await page.getByRole("dialog").getByText('"kind": "file"').waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("a picture in an answer is shown, and an address leads straight to its call", async () => {
    writeFileSync(join(scene.project.root, "dot.png"), Buffer.from(DOT, "base64"));
    const { meta } = await call("fs", { action: "read", uri: "dot.png" });
    await go(page, `live/${meta["trace_id"]}`);
    const picture = page.getByRole("img", { name: "Attached to the answer" });
    await picture.waitFor();
    expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain(String(meta["trace_id"]));
  });

  test("a session starts in the page and asks; the whole diff, the reason and the risk are shown", async () => {
    await go(page, "sessions");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByLabel("Task").fill(`Refuse unfinished expressions, ${size}`);
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: "Session" }).getByText("I look at the parser first.").waitFor();
    await page.locator(".nav-link .count").locator("visible=true").first().waitFor();
    await go(page, "now");
    await page.locator(".question-line", { hasText: "src/parser.js" }).click();
    await page.getByRole("heading", { level: 2, name: "Change a file" }).waitFor();
    await page.locator(".diff-row.added", { hasText: "unexpected end at" }).waitFor();
    await page.locator(".diff-row.removed", { hasText: "tokens[position++]" }).waitFor();
    await shows(page, "no rule matches this call");
    expect(await page.title()).toMatch(/^\(1\) Approvals/);
  });

  test("allowed once, the agent changes the file and goes on", async () => {
    await page.getByRole("button", { name: "Allow once" }).click();
    await shows(page, "Nothing to approve");
    await expect.poll(() => readFileSync(parser(), "utf8")).toContain("unexpected end at");
    await go(page, "sessions");
    await row(page, `Refuse unfinished expressions, ${size}`).click();
    await shows(page, "that says where the text ends");
  });

  test("a transcript has Markdown, a plan, and calls that unfold", async () => {
    const session = page.getByRole("article", { name: "Session" });
    await session.locator(".markdown strong", { hasText: "undefined" }).waitFor();
    await session.locator(".markdown table td code", { hasText: "next" }).waitFor();
    await session.locator(".plan li", { hasText: "Run the tests" }).waitFor();
    // The list moves while the session works.
    await session.locator(".working").waitFor({ state: "detached" });
    const fold = session.locator("details.call", { hasText: "fs.apply_patch" });
    await fold.locator("summary").click();
    await fold.locator(".call-body .diff-row.added").first().waitFor();
    await fold.locator("summary").click();
    await expect.poll(() => fold.locator(".call-body").count()).toBe(0);
  });

  test("time and cost are drawn", async () => {
    await page.getByRole("tab", { name: "Time and cost" }).click();
    await page.locator(".timeline-bar.model").first().waitFor();
    await page.locator(".timeline-bar.waiting").first().waitFor();
    await page.locator(".chart canvas").waitFor();
  });

  test("undo shows the diff first and then restores the file", async () => {
    await page.getByRole("tab", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo to here" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".diff-row.removed", { hasText: "unexpected end at" }).waitFor();
    expect(readFileSync(parser(), "utf8")).toContain("unexpected end at");
    await dialog.getByRole("button", { name: "Undo the files" }).click();
    await expect.poll(() => readFileSync(parser(), "utf8")).not.toContain("unexpected end at");
  });

  test("a session is continued, forked and exported", async () => {
    await page.getByRole("tab", { name: "Transcript" }).click();
    await page.getByLabel("Message to the agent").fill("thank you");
    await page.keyboard.press("Enter");
    await shows(page, "to change.");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^ses_.*\.html$/);
    expect(readFileSync(await file.path(), "utf8")).toContain("that says where the text ends");
    const before = page.url();
    await page.getByRole("button", { name: "Fork" }).click();
    await expect.poll(() => page.url()).not.toBe(before);
    await shows(page, "that says where the text ends");
  });

  test("a denial with a reason reaches the agent", async () => {
    await page.getByLabel("Message to the agent").fill("leave a note");
    await page.keyboard.press("Enter");
    await page.locator(".nav-link .count").locator("visible=true").first().waitFor();
    await go(page, "approvals");
    await page.getByLabel("Reason for a denial").fill("notes belong into the wiki");
    await page.getByRole("button", { name: "Deny" }).click();
    await shows(page, "Nothing to approve");
    await go(page, "sessions");
    await row(page, size).click();
    await shows(page, /The tool said:.*notes belong into the wiki/);
  });

  test("a working session is stopped", async () => {
    await page.getByLabel("Message to the agent").fill("take your time");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).click();
    await shows(page, "Stopped");
    await expect.poll(() => page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });

  test("sessions are found by words", async () => {
    await go(page, "sessions");
    await page.getByLabel("Search sessions").fill(`unfinished ${size}`);
    await expect.poll(() => page.locator(".row", { hasText: "unfinished" }).count()).toBeGreaterThan(0);
    await page.getByLabel("Search sessions").fill("xyzzy");
    await shows(page, "No session matches");
  });

  test("a test run is a tree whose failure leads to the file and line", async () => {
    await call("test", { action: "run" });
    await go(page, "jobs");
    await row(page, "3 passed, 1 failed").click();
    await page.locator(".test-tree summary", { hasText: "errors" }).waitFor();
    await page.locator(".test-line", { hasText: "an unfinished expression is refused" }).waitFor();
    await page.locator(".test-counts", { hasText: "1 failed" }).waitFor();
    await page.locator(".test-failure a", { hasText: "test/evaluate.test.js:" }).click();
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.locator(".source-lines .marked").first().waitFor();
  });

  test("a command shows its output in colour, takes input and is stopped", async () => {
    await call("proc", {
      action: "exec",
      command: `printf '\\033[32mgreen %s\\033[0m\\n' ${size}; exec cat`,
      background: true,
    });
    await go(page, "jobs?kind=commands");
    await row(page, `'\\033[32mgreen %s`).click();
    await page.locator(".terminal .fg-2", { hasText: `green ${size}` }).waitFor();
    await page.getByLabel("Line for the command's input").fill("hello from the page");
    await page.keyboard.press("Enter");
    await page.locator(".terminal-line", { hasText: "hello from the page" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".session-facts", { hasText: /killed|exited/ }).waitFor();
  });

  test("search ranks results, says why, and previews the source", async () => {
    await go(page, "search");
    await shows(page, "Ask a question, or type a name");
    await page.getByLabel("Search the project").fill("where is the text split into tokens?");
    await page.keyboard.press("Enter");
    await page.locator(".hit", { hasText: "src/tokenize.js" }).first().waitFor();
    await page.locator(".hit-why .badge", { hasText: /#\d/ }).first().waitFor();
    await page.locator(".source-lines .marked").first().waitFor();
    await page.getByLabel("Search by").selectOption("file");
    await page.getByLabel("Search the project").fill("evaluate.js");
    await page.keyboard.press("Enter");
    await page.locator(".hit", { hasText: "src/evaluate.js" }).first().waitFor();
  });

  test("files unfold, show their content and their history", async () => {
    await go(page, "files");
    await row(page, "src").click();
    await row(page, "evaluate.js").click();
    await page.locator(".source-lines", { hasText: "The value of an expression" }).waitFor();
    expect(page.url()).toContain("#/files/src/evaluate.js");
    await page.getByRole("tab", { name: "History" }).click();
    await shows(page, /No recorded changes|fs\.write/);
    await page.getByRole("tab", { name: "Undo" }).click();
    await page.locator(".checkpoints li").first().waitFor();
  });

  test("the audit log is whole, filters, and shows a record", async () => {
    await go(page, "audit");
    await shows(page, "Chain is whole");
    await page.getByRole("button", { name: "Failed" }).click();
    await row(page, "NOT_FOUND").click();
    await page.getByRole("complementary", { name: "Record" }).getByText('"code": "NOT_FOUND"').waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Search the log").fill("no such text anywhere");
    await shows(page, "No records");
  });

  test("policy explains a call, and shows settings with their tiers and the sandbox", async () => {
    await page.getByRole("tab", { name: "Explain a call" }).click();
    await page.getByRole("button", { name: "Explain" }).click();
    await shows(page, "A person is asked");
    await page.getByLabel("Arguments as JSON").fill("{");
    await page.getByRole("button", { name: "Explain" }).click();
    await shows(page, /not valid JSON/);
    await page.getByRole("tab", { name: "Settings and hooks" }).click();
    await page.locator(".table .badge", { hasText: "default" }).first().waitFor();
    await page.getByRole("tab", { name: "Sandbox" }).click();
    await shows(page, "Self-test");
  });

  test("health has percentiles, memory, the index, and remedies", async () => {
    await go(page, "health");
    await page.locator(".latencies tr", { hasText: "fs.read" }).first().waitFor();
    await page.locator(".figures", { hasText: "Memory" }).waitFor();
    await page.locator(".figures", { hasText: "Index" }).waitFor();
    await page.locator(".checks li", { hasText: "node" }).first().waitFor();
  });

  test("without a hub its view says how to start one", async () => {
    await go(page, "hub");
    await shows(page, "This console has no hub");
    await page.getByText("octant hub", { exact: true }).waitFor();
  });

  test("no view is wider than the screen", async () => {
    for (const view of VIEWS) {
      await go(page, view);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, view).toBeLessThanOrEqual(SIZES[size].width);
    }
  });

  test("nothing was reported: no error, no request to another host, no violation of the policy", async () => {
    expect(tab.problems.filter((problem) => !problem.includes("404"))).toEqual([]);
    const me = await page.evaluate(async () => (await fetch("/console/api/me")).json());
    expect(me).toMatchObject({ csp_reports: 0 });
  });
});

const parser = () => join(scene.project.root, "src/parser.js");

const VIEWS = ["now", "approvals", "live", "jobs", "sessions", "search", "files", "audit", "hub", "health"];

/** A PNG of one pixel. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
