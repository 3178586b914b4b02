import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Question } from "../packages/console/src/api.ts";
import { sessionIn, shows, startTask, useStage, useVisitor } from "./console/stage.ts";

const WAIT = { timeout: 60_000, interval: 200 };
const SERVER = join(import.meta.dirname, "console/form-server.mjs");
const stage = useStage();

beforeAll(() => {
  const folder = join(String(stage.scene.project.env["HOME"]), ".config/hanzo");
  const settings = {
    mcp_servers: { forms: { command: process.execPath, args: [SERVER] } },
    permissions: { "mcp__forms__*": "allow" },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
});

/** A session whose MCP server has asked for a form. */
async function askForm(): Promise<{ session_id: string; question: Question }> {
  const session_id = await startTask(stage, "hello");
  const { id } = await sessionIn(stage, session_id, "idle");
  // The server may connect after the first message.
  const question = await vi.waitFor(async () => {
    const process = (await stage.api.processes()).find((one) => one.id === id);
    const form = process?.questions.find(({ kind }) => kind === "form");
    if (!form && process?.state === "idle")
      await stage.api.call(id, "console", "message", { session_id, message: "release it" });
    if (!form) throw new Error("no form waits");
    return form;
  }, WAIT);
  return { session_id, question };
}

describe.each(["wide", "phone"] as const)("forms of an MCP server at the size %s", (size) => {
  const visitor = useVisitor(stage, size);
  const open = async (): Promise<{ page: Page; session_id: string }> => {
    const { session_id, question } = await askForm();
    return { session_id, page: await visitor.visit(`approvals/${question.question_id}`) };
  };
  const answerOf = async (page: Page, session_id: string) => {
    await page.evaluate((place) => {
      location.hash = place;
    }, `#/sessions/${session_id}`);
    const said = page.locator(".entry.assistant", { hasText: "The form:" }).last();
    return (await said.textContent())?.trim();
  };

  test("its fields are checked by the page and the server, and the values reach the server", async () => {
    const { page, session_id } = await open();
    await page.getByRole("heading", { level: 2, name: "Which release?" }).waitFor();
    await shows(page, "The values are used once.");
    await shows(page, "Where the release starts");
    const send = page.getByRole("button", { name: "Send" });
    await send.click();
    // The browser shows what is missing; nothing was sent.
    expect(await page.getByLabel(/^Branch/).evaluate((one) => one.matches(":invalid"))).toBe(true);
    await page.getByLabel(/^Branch/).fill("main");
    await page.getByLabel("Owner").fill("ada@example.org");
    expect(await page.getByLabel("Retries").inputValue()).toBe("1");
    await page.getByLabel("Retries").fill("3");
    await page.getByLabel(/^Size/).selectOption({ label: "Large" });
    await page.getByRole("checkbox", { name: "Lint" }).check();
    await page.getByRole("checkbox", { name: "Notify the team" }).check();
    await send.click();
    await page
      .getByRole("alert")
      .getByText(/^checks: /)
      .waitFor();
    expect(await page.getByLabel(/^Branch/).inputValue()).toBe("main");
    await page.getByRole("checkbox", { name: "Tests" }).check();
    await send.click();
    await shows(page, "Nothing to approve");
    const values = {
      branch: "main",
      owner: "ada@example.org",
      retries: 3,
      size: "l",
      checks: ["lint", "tests"],
      notify: true,
    };
    await sessionIn(stage, session_id, "idle");
    expect(await answerOf(page, session_id)).toBe(
      `The form: ${JSON.stringify({ action: "accept", content: values })}`,
    );
  });

  test("a declined form tells the server so", async () => {
    const { page, session_id } = await open();
    await page.getByRole("button", { name: "Decline" }).click();
    await shows(page, "Refused.");
    await sessionIn(stage, session_id, "idle");
    expect(await answerOf(page, session_id)).toBe('The form: {"action":"decline"}');
    expect(visitor.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  });
});
