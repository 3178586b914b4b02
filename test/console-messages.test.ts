import { expect, test } from "vitest";
import { sessionIn, startTask, useStage, useVisitor } from "./console/stage.ts";

const stage = useStage();
const visitor = useVisitor(stage, "wide");
const { visit } = visitor;

const distanceFromEnd = () =>
  visitor.page
    .locator(".tab-panel")
    .evaluate((panel) => Math.round(panel.scrollHeight - panel.scrollTop - panel.clientHeight));

test("a task that was typed survives a reload, and Ctrl+Enter starts it in the chosen mode", async () => {
  const page = await visit("sessions");
  await page.getByRole("button", { name: "New session" }).click();
  const task = page.getByLabel("Task");
  await expect.poll(() => task.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.type("say hello");
  await page.getByLabel("Mode", { exact: true }).selectOption("plan");
  await page.reload();
  expect(await task.inputValue()).toBe("say hello");
  expect(await page.getByLabel("Mode", { exact: true }).inputValue()).toBe("plan");
  await task.press("Control+Enter");
  await page.locator(".entry.assistant", { hasText: "All good" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
});

test("a half-typed message survives a reload, and the parts of a session have addresses", async () => {
  const id = await startTask(stage, "say hello");
  const page = await visit(`sessions/${id}`);
  await page.getByLabel("Message to the agent").fill("not finished");
  await page.getByRole("tab", { name: "Undo" }).click();
  await page.reload();
  expect(await page.getByRole("tab", { name: "Undo" }).getAttribute("aria-selected")).toBe("true");
  await page.getByRole("tab", { name: "Transcript" }).click();
  expect(await page.getByLabel("Message to the agent").inputValue()).toBe("not finished");
  await page.keyboard.press("Escape");
});

test("messages to a working session are shown, taken back, and return after a stop", async () => {
  const id = await startTask(stage, "take your time");
  await sessionIn(stage, id, "working");
  const page = await visit(`sessions/${id}`);
  const field = page.getByLabel("Message to the agent");
  const queued = page.locator(".queued");
  await field.fill("delete the tests");
  await field.press("Enter");
  await queued.getByText("delete the tests").waitFor();
  await page.reload();
  await queued.getByText("delete the tests").waitFor();
  await queued.getByRole("button", { name: "Take back" }).click();
  await queued.waitFor({ state: "detached" });
  expect(await field.inputValue()).toBe("delete the tests");
  await field.press("Enter");
  await queued.getByText("delete the tests").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await queued.waitFor({ state: "detached" });
  await expect.poll(() => field.inputValue()).toBe("delete the tests");
  await field.fill("");
});

test("a transcript stays at its end until the reader scrolls up, and a sent message leads back there", async () => {
  const id = await startTask(stage, "say hello");
  await sessionIn(stage, id, "idle");
  const page = await visit(`sessions/${id}`);
  await page.setViewportSize({ width: 1280, height: 420 });
  const field = page.getByLabel("Message to the agent");
  const say = async (text: string, answers: number) => {
    await field.fill(text);
    await field.press("Enter");
    await expect.poll(() => page.locator(".entry.assistant").count()).toBe(answers);
  };
  await say("again\n\nand\n\nagain", 2);
  await expect.poll(distanceFromEnd).toBe(0);
  await page.locator(".tab-panel").evaluate((panel) => panel.scrollTo(0, 0));
  await page.getByRole("button", { name: "Latest" }).waitFor();
  await say("once more", 3);
  await expect.poll(distanceFromEnd).toBe(0);
  await page.locator(".tab-panel").evaluate((panel) => panel.scrollTo(0, 0));
  await page.getByRole("button", { name: "Latest" }).click();
  await expect.poll(distanceFromEnd).toBe(0);
  expect(visitor.problems).toEqual([]);
});
