import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { SIZES } from "./console/browser.ts";
import { readToEnd, sessionIn, shows, startTask, useStage, useVisitor } from "./console/stage.ts";
import { runOctant } from "./octant-process.ts";

const stage = useStage();
const { call } = stage;
const inProject = (path: string) => join(stage.scene.project.root, path);
const WAIT = { timeout: 60_000, interval: 50 };

/** The question of the MCP client's server, once it waits. */
const findQuestion = (action: string) =>
  vi.waitFor(async () => {
    const questions = (await stage.api.processes()).flatMap((one) => one.questions);
    const found = questions.find((question) => question.action === action);
    if (!found) throw new Error(`${action} does not ask`);
    return found;
  }, WAIT);

describe.each(["wide", "phone"] as const)("answers at the size %s", (size) => {
  const visitor = useVisitor(stage, size);
  const { visit } = visitor;

  test("a confirmation shows what would go; No refuses and its own word accepts", async () => {
    const page = await visit("approvals");
    await call("fs", { action: "write", uri: "old/a.md", content: "a\n" });
    const refused = call("fs", { action: "rm", uri: "old", recursive: true });
    await page.getByRole("heading", { level: 2, name: /^Remove .*old\?/ }).waitFor();
    await page.locator(".form-message", { hasText: "old/a.md" }).waitFor();
    await page.getByRole("button", { name: "No", exact: true }).click();
    expect((await refused).error).toMatchObject({ code: "PERMISSION_DENIED" });
    await shows(page, "Nothing to approve");
    const allowed = call("fs", { action: "rm", uri: "old", recursive: true });
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    expect(await allowed).toMatchObject({ ok: true });
    expect(existsSync(inProject("old"))).toBe(false);
  });

  test("an answer for the session lets the session do the same again without a question", async () => {
    const id = await startTask(stage, "write the same note");
    const { id: process, questions } = await sessionIn(stage, id, "waiting");
    const page = await visit(`approvals/${questions[0]?.question_id}`);
    await page.locator(".grants", { hasText: "Session allows" }).waitFor();
    await page.getByRole("button", { name: "Allow for session" }).click();
    await sessionIn(stage, id, "idle");
    rmSync(inProject("same.md"));
    const message = { session_id: id, message: "write the same note once more" };
    await stage.api.call(process, "console", "message", message);
    await expect.poll(() => existsSync(inProject("same.md"))).toBe(true);
    await sessionIn(stage, id, "idle");
  });

  test("always writes the rule that was shown", async () => {
    const id = await startTask(stage, "leave a note");
    const { questions } = await sessionIn(stage, id, "waiting");
    const page = await visit(`approvals/${questions[0]?.question_id}`);
    await page.locator(".grants", { hasText: "allow fs.write" }).waitFor();
    await page.locator(".grants code").first().waitFor();
    expect(await page.locator(".grants").textContent()).not.toContain("`");
    await page.getByRole("button", { name: "Always allow" }).click();
    await sessionIn(stage, id, "idle");
    const rules = () => readFileSync(inProject(".hanzo/settings.local.json"), "utf8");
    await vi.waitFor(() => expect(rules()).toMatch(/"tool_pattern":\s*"fs\.write"/), WAIT);
    rmSync(inProject(".hanzo"), { recursive: true });
  });

  test("a question is answered with the keyboard alone", async () => {
    const id = await startTask(stage, "leave a note");
    await sessionIn(stage, id, "waiting");
    const page = await visit("now");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    // It is enabled once a person could have read the question.
    await page.locator("button:enabled", { hasText: "Allow once" }).waitFor();
    await page.keyboard.press("o");
    await shows(page, "Nothing to approve");
    await sessionIn(stage, id, "idle");
  });

  test("a command that hides its end behind blanks is shown, and counts only when it was scrolled to", async () => {
    const id = await startTask(stage, "hide a command");
    await sessionIn(stage, id, "waiting");
    const page = await visit("approvals");
    await page.getByText("⟨3000 spaces⟩").waitFor();
    await page.getByText("⟨120 empty lines⟩").waitFor();
    await shows(page, "There is more: scroll to the end to allow it.");
    await page.locator("button:enabled", { hasText: "Deny" }).waitFor();
    await page.keyboard.press("o");
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    await page.locator(".question-body").focus();
    await page.keyboard.press("End");
    await page.locator("button:enabled", { hasText: "Allow once" }).waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    await sessionIn(stage, id, "idle");
  });

  // On a phone the page scrolls, not the question.
  if (size === "wide")
    test("a question that fits after the window has grown can be allowed", async () => {
      const id = await startTask(stage, "leave a note");
      await sessionIn(stage, id, "waiting");
      const { width, height } = SIZES[size];
      await visitor.page.setViewportSize({ width, height: height / 2 });
      const page = await visit("approvals");
      await shows(page, "There is more: scroll to the end to allow it.");
      await page.locator("button:enabled", { hasText: "Deny" }).waitFor();
      expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
      await page.setViewportSize({ width, height: 2 * height });
      await page.locator("button:enabled", { hasText: "Allow once" }).click();
      await sessionIn(stage, id, "idle");
      await page.setViewportSize({ width, height });
    });

  test("a double click answers one question, and the next one stays as it is", async () => {
    const first = call("fs", { action: "rm", uri: "src", recursive: true });
    await findQuestion("fs.rm");
    const id = await startTask(stage, "leave a note");
    await sessionIn(stage, id, "waiting");
    const page = await visit("approvals");
    await page.getByRole("heading", { level: 2, name: /^Remove .*src\?/ }).waitFor();
    await page.getByRole("button", { name: "No", exact: true }).dblclick({ delay: 60 });
    expect((await first).ok).toBe(false);
    await page.getByRole("heading", { level: 2, name: "Create a file" }).waitFor();
    // The keys of an eager person count no more than clicks.
    await page.keyboard.press("o");
    await readToEnd(page);
    expect(existsSync(inProject("note-0.md"))).toBe(false);
    await page.getByLabel("Reason for a denial").fill("not on a Friday");
    await page.keyboard.press("Enter");
    await shows(page, "Nothing to approve");
    await sessionIn(stage, id, "idle");
    expect(existsSync(inProject("note-0.md"))).toBe(false);
  });

  test("changes of a turn are undone and redone, each after its diff", async () => {
    const id = await startTask(stage, "leave a note");
    const { id: process, questions } = await sessionIn(stage, id, "waiting");
    await stage.api.post("answer", { process, question_id: questions[0]?.question_id, answer: "once" });
    await sessionIn(stage, id, "idle");
    const note = () => existsSync(inProject("note-0.md"));
    expect(note()).toBe(true);
    const page = await visit("files?part=undo");
    const turn = page.locator(".checkpoints li", { hasText: "leave a note" }).first();
    await turn.getByRole("button", { name: "Undo" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".diff-row.removed", { hasText: "# A note" }).waitFor();
    await dialog.getByRole("button", { name: "Undo" }).click();
    await turn.getByRole("button", { name: "Redo" }).click();
    expect(note()).toBe(false);
    await dialog.locator(".diff-row.added", { hasText: "# A note" }).waitFor();
    await dialog.getByRole("button", { name: "Redo" }).click();
    await expect.poll(note).toBe(true);
    rmSync(inProject("note-0.md"));
  });

  test("every question can be found again by its address, also after it was answered", async () => {
    const waiting = call("fs", { action: "rm", uri: "src", recursive: true });
    const { question_id } = await findQuestion("fs.rm");
    const page = await visit(`approvals/${question_id}`);
    await page.getByRole("button", { name: "Cancel the call" }).click();
    expect((await waiting).ok).toBe(false);
    await visit(`approvals/${question_id}`);
    await shows(page, /That question was answered, or its call was cancelled\./);
    expect(visitor.problems).toEqual([]);
  });
});

test("a call of the person is not a question to the person, and one of another admin's token is", async () => {
  const id = await startTask(stage, "hello");
  const { id: process } = await sessionIn(stage, id, "idle");
  const input = { uri: "mine.md", content: "# Mine\n" };
  expect(await stage.api.call(process, "fs", "write", input)).toMatchObject({ ok: true });
  const { project, env } = stage.scene;
  const made = await runOctant(["token", "create", "--scope", "admin", "--json"], { cwd: project.root, env });
  const headers = {
    authorization: `Bearer ${JSON.parse(made.stdout).token}`,
    "content-type": "application/json",
  };
  const answer = fetch(new URL("/console/api/call", stage.api.origin), {
    method: "POST",
    headers,
    body: JSON.stringify({ process, tool: "fs", action: "write", input: { ...input, uri: "theirs.md" } }),
  });
  const { question_id } = await findQuestion("fs.write");
  await stage.api.post("answer", { process, question_id, answer: "deny" });
  expect((await (await answer).json()).envelope).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
  expect([existsSync(inProject("mine.md")), existsSync(inProject("theirs.md"))]).toEqual([true, false]);
});
