import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { SIZES } from "./console/browser.ts";
import {
  allowOnce,
  finishTask,
  row,
  sessionIn,
  shows,
  startTask,
  useStage,
  useVisitor,
} from "./console/stage.ts";

const stage = useStage();
const parser = () => readFileSync(join(stage.scene.project.root, "src/parser.js"), "utf8");

describe.each(["wide", "phone"] as const)("sessions at the size %s", (size) => {
  const visitor = useVisitor(stage, size);
  const { visit } = visitor;

  test("a session starts in the page and asks; allowed once, it changes the file and goes on", async () => {
    const page = await visit("sessions");
    const task = `Refuse unfinished expressions, ${size}`;
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByLabel("Task").fill(task);
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: "Session" }).getByText("I look at the parser first.").waitFor();
    await page.locator(".nav-link .count").locator("visible=true").first().waitFor();
    await page.evaluate(() => {
      location.hash = "#/now";
    });
    await page.locator(".question-line", { hasText: "src/parser.js" }).click();
    await page.getByRole("heading", { level: 2, name: "Change a file" }).waitFor();
    await page.locator(".diff-row.added", { hasText: "unexpected end at" }).waitFor();
    await page.locator(".diff-row.removed", { hasText: "tokens[position++]" }).waitFor();
    await shows(page, "no rule matches this call");
    await expect.poll(() => page.title()).toMatch(/^\(1\) Approvals/);
    await allowOnce(page);
    await shows(page, "Nothing to approve");
    await expect.poll(parser).toContain("unexpected end at");
    await page.evaluate(() => {
      location.hash = "#/sessions";
    });
    await row(page, task).click();
    await shows(page, "that says where the text ends");
  });

  test("a transcript has Markdown, a plan, and calls that unfold", async () => {
    const id = await finishTask(stage, "Refuse unfinished expressions");
    const page = await visit(`sessions/${id}`);
    const session = page.getByRole("article", { name: "Session" });
    await session.locator(".markdown strong", { hasText: "undefined" }).waitFor();
    await session.locator(".markdown table td code", { hasText: "next" }).waitFor();
    await session.locator(".plan li", { hasText: "Run the tests" }).waitFor();
    const fold = session.locator("details.call", { hasText: "fs.apply_patch" });
    await fold.locator("summary").click();
    await fold.locator(".call-body .diff-row.added").first().waitFor();
    await fold.locator("summary").click();
    await fold.locator(".call-body").waitFor({ state: "detached" });
  });

  test("time and cost are drawn, also while the session goes on", async () => {
    const id = await startTask(stage, "Refuse unfinished expressions");
    const { id: process, questions } = await sessionIn(stage, id, "waiting");
    const page = await visit(`sessions/${id}`);
    await page.getByRole("tab", { name: "Time and cost" }).click();
    await page.locator(".timeline-bar.waiting.open").waitFor();
    const [question] = questions;
    await stage.api.post("answer", { process, question_id: question?.question_id, answer: "once" });
    await page.locator(".session-facts .badge", { hasText: "idle" }).waitFor();
    // The chosen part stays in view.
    await page.locator(".timeline-bar.waiting:not(.open)").waitFor();
    await page.locator(".timeline-bar.model").first().waitFor();
    await page.locator(".chart canvas").waitFor();
    // The last values stand below it while the pointer is elsewhere.
    await page.locator(".u-legend", { hasText: /Context.*\d.* tokens/ }).waitFor();
  });

  test("undo shows the diff first and then restores the file", async () => {
    const id = await finishTask(stage, "Refuse unfinished expressions");
    const page = await visit(`sessions/${id}`);
    await page.getByRole("tab", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo to here" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".diff-row.removed", { hasText: "unexpected end at" }).waitFor();
    expect(parser()).toContain("unexpected end at");
    await dialog.getByRole("button", { name: "Undo the files" }).click();
    await expect.poll(parser).not.toContain("unexpected end at");
    await shows(page, "No file has changed since");
  });

  test("an undo that continues in a copy gives the message back", async () => {
    const id = await finishTask(stage, "Refuse unfinished expressions");
    const page = await visit(`sessions/${id}`);
    await page.getByRole("tab", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo to here" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo and continue in a copy" }).click();
    await shows(page, "Nothing was said yet");
    expect(page.url()).not.toContain(id);
    expect(await page.getByLabel("Message to the agent").inputValue()).toBe("Refuse unfinished expressions");
    expect(parser()).not.toContain("unexpected end at");
  });

  test("a session is continued, exported as one file, and forked", async () => {
    const id = await startTask(stage, `hello ${"x".repeat(60)}`);
    await sessionIn(stage, id, "idle");
    const page = await visit(`sessions/${id}`);
    await page.getByLabel("Message to the agent").fill("thank you");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".entry.assistant", { hasText: "to change." }).count()).toBe(2);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^ses_.*\.html$/);
    expect(readFileSync(await file.path(), "utf8")).toContain("thank you");
    const exported = await page.context().newPage();
    await exported.goto(pathToFileURL(await file.path()).href);
    await exported.getByText("thank you").waitFor();
    const width = await exported.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(SIZES[size].width);
    await exported.close();
    await page.getByRole("button", { name: "Fork" }).click();
    await expect.poll(() => page.url()).not.toContain(id);
    await page.locator(".entry.user", { hasText: "thank you" }).waitFor();
    // The original is not marked any more.
    const marked = page.locator(".session-list .row:is([aria-current], :has(.session-line.current))");
    await expect.poll(() => marked.count()).toBe(1);
  });

  test("a denial with a reason reaches the agent", async () => {
    const id = await startTask(stage, "leave a note");
    const { questions } = await sessionIn(stage, id, "waiting");
    const page = await visit(`approvals/${questions[0]?.question_id}`);
    await page.getByLabel("Reason for a denial").fill("notes belong into the wiki");
    await page.getByRole("button", { name: "Deny" }).click();
    await shows(page, "Refused.");
    await page.evaluate((place) => {
      location.hash = place;
    }, `#/sessions/${id}`);
    await shows(page, /The tool said:.*notes belong into the wiki/);
  });

  test("a working session is stopped", async () => {
    const id = await startTask(stage, "take your time");
    await sessionIn(stage, id, "working");
    const page = await visit(`sessions/${id}`);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".entry.note", { hasText: /^Stopped$/ }).waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  });

  test("a message to a working session is shown as queued, and comes back when it is stopped", async () => {
    const id = await startTask(stage, "take your time");
    await sessionIn(stage, id, "working");
    const page = await visit(`sessions/${id}`);
    const field = page.getByLabel("Message to the agent");
    await field.fill("delete the tests");
    await page.keyboard.press("Enter");
    await page.locator(".queued", { hasText: "delete the tests" }).waitFor();
    await page.getByRole("button", { name: "Take back" }).click();
    await expect.poll(() => field.inputValue()).toBe("delete the tests");
    await page.keyboard.press("Enter");
    await field.fill("delete the docs");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("delete the docs");
    await field.press("Enter");
    await page.locator(".queued", { hasText: "delete the docs" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await shows(page, /Messages that it had not read/);
    await expect.poll(() => field.inputValue()).toContain("delete the docs");
    await page.locator(".queued").waitFor({ state: "detached" });
    expect(await page.locator(".entry.user", { hasText: "delete" }).count()).toBe(0);
  });

  test("a session that waits shows its question until it is answered elsewhere", async () => {
    const id = await startTask(stage, "leave a note");
    const { id: process, questions } = await sessionIn(stage, id, "waiting");
    const page = await visit(`sessions/${id}`);
    await page.getByRole("heading", { level: 2, name: "Create a file" }).waitFor();
    await stage.api.post("answer", { process, question_id: questions[0]?.question_id, answer: "deny" });
    await sessionIn(stage, id, "idle");
    await page.locator(".session-question").waitFor({ state: "detached" });
  });

  test("sessions are found by words", async () => {
    const id = await startTask(stage, `Say hello to the ${size} screen`);
    await sessionIn(stage, id, "idle");
    const page = await visit("sessions");
    await page.getByLabel("Search sessions").fill(`hello ${size}`);
    await expect.poll(() => page.locator(".row", { hasText: `${size} screen` }).count()).toBe(1);
    await page.getByLabel("Search sessions").fill("xyzzy");
    await shows(page, "No session matches");
  });

  test("nothing was reported: no error, no request to another host, no violation of the policy", async () => {
    expect(visitor.problems).toEqual([]);
    expect(await stage.api.get("me")).toMatchObject({ csp_reports: 0 });
  });
});
