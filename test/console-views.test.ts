import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SIZES } from "./console/browser.ts";
import { closesDialog, row, shows, useStage, useVisitor } from "./console/stage.ts";
import { startSession } from "./mcp-session.ts";

const stage = useStage();
const { call } = stage;

describe.each(["wide", "phone"] as const)("the console at the size %s", (size) => {
  const visitor = useVisitor(stage, size);
  const { visit } = visitor;

  test("Now lists the server that another client started, and that nothing waits", async () => {
    const page = await visit("now");
    await shows(page, "Nothing waits for you.");
    const server = page.locator(".roster-row", { hasText: "claude-code 2.1.4" });
    await server.waitFor();
    expect(await server.textContent()).toContain("octant serve");
    expect(await server.getAttribute("href")).toContain("#/live?process=");
    // The first line, whichever it is; there is none before it.
    for (const key of ["j", "k"]) await page.keyboard.press(key);
    const first = page.locator(".roster-row").first();
    expect(await first.evaluate((line) => line === document.activeElement)).toBe(true);
  });

  test("navigation has a link for every view, and the current one is marked", async () => {
    const page = await visit("now");
    const nav = page.getByRole("navigation", { name: "Views" }).locator("visible=true").first();
    await nav.getByRole("link", { name: "Live" }).click();
    await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
    expect(await nav.getByRole("link", { name: "Live" }).getAttribute("aria-current")).toBe("page");
    if (size === "wide") return;
    await nav.getByRole("button", { name: "More" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
    await closesDialog(page);
  });

  test("Live shows calls while they happen: what each is about, from where, and its code", async () => {
    const page = await visit("live");
    await call("fs", { action: "read", uri: "src/parser.js" });
    await call("fs", { action: "read", uri: `missing-${size}.js` });
    await row(page, "src/parser.js").waitFor();
    const failed = row(page, `missing-${size}.js`);
    await failed.getByText("NOT_FOUND").waitFor();
    expect(await failed.textContent()).toMatch(/calculator\s+·\s+claude-code/);
    expect(await page.locator(".row", { hasText: `missing-${size}.js` }).count()).toBe(1);
    for (const line of [page.locator(".live-list .list-head"), failed.locator(".call-row")]) {
      const cells = await line.evaluate((head) =>
        [...head.children].map((cell) => cell.getBoundingClientRect()).filter(({ width }) => width > 0),
      );
      expect(cells.length).toBe(size === "wide" ? 7 : 4);
      for (const [index, { right }] of cells.entries())
        expect(right).toBeLessThanOrEqual(cells[index + 1]?.left ?? SIZES[size].width);
    }
  });

  test("Live starts with the calls that the console has seen, and an empty filter says so", async () => {
    await visit("live");
    await call("fs", { action: "read", uri: `before-${size}.js` });
    const page = await visit("live");
    await row(page, `before-${size}.js`).getByText("NOT_FOUND").waitFor();
    await page.getByLabel("Filter calls").fill("no such call anywhere");
    await shows(page, "No call matches");
  });

  test("a call that runs says what it is about", async () => {
    const page = await visit("live");
    const command = `until [ -e end-${size} ]; do sleep 0.1; done`;
    const running = call("proc", { action: "exec", command, wait: 40_000 });
    await row(page, `until [ -e end-${size} ]`).getByText("running").waitFor();
    writeFileSync(join(stage.scene.project.root, `end-${size}`), "");
    expect(await running).toMatchObject({ ok: true });
  });

  test("Live filters by words and outcome, and the filter is in the address", async () => {
    const page = await visit("live");
    await call("fs", { action: "read", uri: "missing.js" });
    await call("vcs", { action: "status" });
    await row(page, "vcs.status").waitFor();
    await page.getByLabel("Filter calls").fill("fs.read not_found");
    await expect.poll(() => page.locator(".row", { hasText: "vcs.status" }).count()).toBe(0);
    expect(page.url()).toContain("q=fs.read");
    await page.getByLabel("Filter calls").fill("");
    await row(page, "vcs.status").waitFor();
    await page.getByRole("button", { name: "Failed" }).click();
    await expect.poll(() => page.locator(".row", { hasText: "vcs.status" }).count()).toBe(0);
    await row(page, "NOT_FOUND").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await row(page, "vcs.status").waitFor();
  });

  test("Live can be paused; new calls wait until it continues", async () => {
    const page = await visit("live");
    await page.getByRole("button", { name: "Pause" }).click();
    await call("fs", { action: "stat", uri: `paused-${size}.js` });
    await page.getByRole("button", { name: "1 new call" }).waitFor();
    expect(await page.locator(".row", { hasText: `paused-${size}` }).count()).toBe(0);
    await page.getByRole("button", { name: "Continue" }).click();
    await row(page, `paused-${size}`).waitFor();
  });

  test("a call opens with its request, its envelope and its change as a diff", async () => {
    const page = await visit("live");
    await call("fs", { action: "write", uri: `from-${size}.md`, content: "# Title\nsecond line\n" });
    await row(page, `from-${size}.md`).click();
    const panel = page.getByRole("complementary", { name: "Call" });
    await panel.locator(".diff-row.added", { hasText: "second line" }).waitFor();
    await panel.getByRole("tab", { name: /Answer/ }).click();
    await panel.getByText('"ok": true').waitFor();
    await panel.getByRole("tab", { name: /Request/ }).click();
    await panel.getByText(`"uri": "from-${size}.md"`).waitFor();
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
  });

  test("a call is copied as a command and runs again after a question", async () => {
    const page = await visit("live");
    await call("fs", { action: "stat", uri: "package.json" });
    await row(page, "package.json").click();
    const panel = page.getByRole("complementary", { name: "Call" });
    await panel.getByRole("button", { name: "Copy as octant call" }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe("octant call fs.stat uri=package.json");
    await panel.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run it" }).click();
    await page.getByRole("dialog").getByText('"kind": "file"').waitFor();
    await page.keyboard.press("Escape");
    await closesDialog(page);
    // The key closes the window on top, and not also the panel below it.
    expect(await panel.count()).toBe(1);
  });

  test("an address leads straight to a call of any process, with its picture", async () => {
    await visit("live");
    writeFileSync(join(stage.scene.project.root, "dot.png"), Buffer.from(DOT, "base64"));
    const { meta } = await call("fs", { action: "read", uri: "dot.png" });
    const page = await visit(`live/${meta["trace_id"]}`);
    const picture = page.getByRole("img", { name: "Attached to the answer" });
    await picture.waitFor();
    const pixel = (canvas: HTMLCanvasElement) => [
      canvas.width,
      ...(canvas.getContext("2d")?.getImageData(0, 0, 1, 1).data ?? []),
    ];
    expect(await picture.evaluate(pixel)).toEqual([1, 255, 0, 0, 127]);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain(String(meta["trace_id"]));
  });

  test("a call that is no longer remembered leads to the audit log", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const page = await visit(`live/${trace}`);
    await shows(page, "are not stored");
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByRole("link", { name: "Show it in the audit log" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit and policy" }).waitFor();
    await shows(page, "No records");
    expect(await page.getByLabel("Search the log").inputValue()).toBe(trace);
  });

  test("a test run is a tree whose failure leads to the file and line", async () => {
    await call("test", { action: "run" });
    const page = await visit("jobs");
    await row(page, "3 passed, 1 failed")
      .getByText(/^failed/)
      .waitFor();
    await row(page, "3 passed, 1 failed").click();
    await page.locator(".test-tree summary", { hasText: "errors" }).waitFor();
    await page.locator(".test-line", { hasText: "an unfinished expression is refused" }).waitFor();
    await page.locator(".test-counts", { hasText: "1 failed" }).waitFor();
    await page.locator(".test-tree summary", { hasText: "1 of 1 failed" }).waitFor();
    await page.locator(".test-failure a", { hasText: "test/evaluate.test.js:" }).click();
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.locator(".source-lines .marked").first().waitFor();
  });

  test("a running job shows its log and is cancelled", async () => {
    const file = join(stage.scene.project.root, "test/endless.test.js");
    writeFileSync(file, ENDLESS);
    const started = await call("test", { action: "run", filter: "test/endless.test.js" });
    const page = await visit(`jobs/${started.meta["job_id"]}`);
    const job = page.getByRole("article", { name: "Job" });
    await job.locator(".test-line", { hasText: "begins" }).waitFor();
    await job.getByRole("button", { name: "Cancel" }).click();
    await job.locator(".badge", { hasText: /^cancelled$/ }).waitFor();
    await job.getByText("The run was cancelled.").waitFor();
    await job.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    if (size === "wide") await row(page, "cancelled").waitFor();
    rmSync(file);
  });

  test("a command shows its output in colour, takes input and is stopped", async () => {
    // Every process of the folder lists the command, and this one is not the first.
    const { project, env } = stage.scene;
    const at = { cwd: project.root, env };
    const args = ["--permissions", "host", "--answers", "structured"];
    await using second = await startSession(args, at, { name: "second", version: "1" });
    const started = await second.call("proc", {
      action: "exec",
      command: `printf '\\033[32mgreen %s\\033[0m\\n' ${size}; exec cat`,
      background: true,
    });
    const page = await visit("jobs?kind=commands");
    await row(page, `green %s`).click();
    await expect.poll(() => page.url()).toContain(String(started.data?.["proc_id"]));
    await page.locator(".terminal .fg-2", { hasText: `green ${size}` }).waitFor();
    await page.getByLabel("Line for the command's input").fill("hello from the page");
    await page.keyboard.press("Enter");
    await page.locator(".terminal-line", { hasText: "hello from the page" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".session-facts", { hasText: /killed|exited/ }).waitFor();
    // Only the process that runs it was asked to do something.
    const failed = { outcome: "failed", action: "proc." };
    const { data } = await stage.api.call(stage.api.me.process, "console", "audit", failed);
    expect(data).toMatchObject({ records: [] });
  });

  test("a long output opens at its end, and can be read from its beginning", async () => {
    const command = `seq 1 20000; echo ${size}; exit 3`;
    await call("proc", { action: "exec", command });
    const page = await visit("jobs");
    const line = row(page, `echo ${size}`);
    await line.getByText(/exited with 3 .* calculator/).waitFor();
    await line.click();
    await page.locator(".terminal-line", { hasText: "20000" }).waitFor();
    await page.getByRole("button", { name: "Show it from the beginning" }).click();
    const output = page.getByRole("region", { name: "Output" });
    expect((await output.textContent())?.split("\n").slice(0, 2)).toEqual(["1", "2"]);
    await page.getByRole("button", { name: "Later" }).click();
    await expect.poll(() => output.textContent()).toContain("20000");
    await page.getByRole("button", { name: "Back to the end" }).click();
    await page.locator(".terminal-line", { hasText: size }).waitFor();
  });

  test("what is open stays open while processes come and go", async () => {
    const { data } = await call("proc", { action: "exec", command: "echo here; exec cat", background: true });
    const page = await visit(`jobs/${data?.["proc_id"]}?kind=commands`);
    await page.locator(".terminal-line", { hasText: "here" }).waitFor();
    await page.getByLabel("Line for the command's input").fill("not sent yet");
    const count = (await stage.api.processes()).length;
    const { data: started } = await stage.api.call(stage.api.me.process, "console", "start", {
      message: "hello",
    });
    await expect.poll(async () => (await stage.api.processes()).length).toBe(count + 1);
    await page.locator(".nav-link", { hasText: "Sessions" }).locator("visible=true").first().waitFor();
    expect(await page.getByLabel("Line for the command's input").inputValue()).toBe("not sent yet");
    expect(Object(started).session_id).toMatch(/^ses_/);
    await page.getByRole("button", { name: "Stop" }).click();
  });

  test("search ranks results, says why, and previews the source", async () => {
    const page = await visit("search");
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
    const page = await visit("files");
    await row(page, "src").click();
    await row(page, "evaluate.js").click();
    await page.locator(".source-lines", { hasText: "The value of an expression" }).waitFor();
    // As code, although no diff was drawn before.
    const line = page.locator(".source-lines .diff-text", { hasText: "node.operator ?" });
    expect(await line.evaluate((cell) => getComputedStyle(cell).whiteSpace)).toBe("pre-wrap");
    expect(await line.evaluate((cell) => getComputedStyle(cell).fontFamily)).toContain("monospace");
    expect(page.url()).toContain("#/files/src/evaluate.js");
    await page.getByRole("tab", { name: "History" }).click();
    await shows(page, "Only changes of sessions are listed by file");
    // Elsewhere a change without file names is listed.
    await page.evaluate(() => {
      location.hash = "#/files";
    });
    await shows(page, /Changes that agents make with the tools appear here|not recorded/);
  });

  test("the audit log is whole, filters, and shows a record", async () => {
    await call("fs", { action: "read", uri: "missing.js" });
    const page = await visit("audit");
    await shows(page, "Chain is whole");
    await row(page, /process \d+ started writing/).waitFor();
    await page.getByRole("button", { name: "Failed" }).click();
    await row(page, "NOT_FOUND").click();
    await page.getByRole("complementary", { name: "Record" }).getByText('"code": "NOT_FOUND"').waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Search the log").fill("no such text anywhere");
    await shows(page, "No records");
  });

  test("policy explains a call, and shows settings with their tiers and the sandbox", async () => {
    const page = await visit("audit/explain");
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
    await call("fs", { action: "read", uri: "README.md" });
    const page = await visit("health");
    const name = page.locator(".latencies tr", { hasText: "fs.read" }).first().locator("code");
    await name.waitFor();
    expect(await name.evaluate((code) => code.getClientRects().length)).toBe(1);
    await page.locator(".figures", { hasText: "Memory" }).waitFor();
    await page.locator(".figures", { hasText: "Index" }).waitFor();
    await page.locator(".checks li", { hasText: "node" }).first().waitFor();
    await page
      .getByRole("heading", { name: /^Calls of all processes in this project in the last / })
      .waitFor();
    // What a person looks at is not recorded.
    const { me } = stage.api;
    const { data } = await stage.api.call(me.process, "console", "audit", { action: "ws.capabilities" });
    expect(data).toMatchObject({ records: [] });
  });

  test("without a hub its view says how to start one", async () => {
    const page = await visit("hub");
    await shows(page, "This console has no hub");
    await page.getByText("octant hub", { exact: true }).waitFor();
  });

  test("no view is wider than the screen", async () => {
    const page = await visit("now");
    for (const view of VIEWS) {
      await page.evaluate((place) => {
        location.hash = place;
      }, `#/${view}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, view).toBeLessThanOrEqual(SIZES[size].width);
    }
  });

  test("nothing was reported: no error, no request to another host, no violation of the policy", async () => {
    expect(visitor.problems).toEqual([]);
    expect(await stage.api.get("me")).toMatchObject({ csp_reports: 0 });
  });
});

const VIEWS = ["now", "approvals", "live", "jobs", "sessions", "search", "files", "audit", "hub", "health"];

const ENDLESS = `import { test } from "node:test";
test("begins", () => {});
test("never ends", () => new Promise(() => setInterval(() => {}, 1_000)));
`;

/** A PNG of one pixel. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
