import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openTab } from "./console/browser.ts";
import { allowOnce, sessionIn, startTask, useStage } from "./console/stage.ts";

const stage = useStage({ permissions: "enforce" });
const WAIT = { timeout: 60_000, interval: 20 };
/** As `SEEN_MS` of the page: a question takes no answer before it was in view this long without input. */
const SEEN_MS = 500;
/** By then the page has also noticed that the end of a short question is in view. */
const READ_MS = 2_000;

const ANSWERS = {
  once: { button: "Allow once", key: "o" },
  session: { button: "Allow for session", key: "s" },
  always: { button: "Always allow", key: "w Enter" },
  deny: { button: "Deny", key: "d" },
} as const;
const DEVICES = {
  mouse: async (page: Page, button: string) => page.mouse.click(...(await centerOf(page, button))),
  touch: async (page: Page, button: string) => page.touchscreen.tap(...(await centerOf(page, button))),
  keyboard: async (page: Page, _button: string, key: string) => {
    for (const one of key.split(" ")) await page.keyboard.press(one);
  },
};
/** Every answer has a key and a button of its own; a click and a tap press the same button. */
const TABLE = [
  ["keyboard", "once"],
  ["keyboard", "session"],
  ["keyboard", "always"],
  ["keyboard", "deny"],
  ["mouse", "once"],
  ["mouse", "always"],
  ["touch", "session"],
  ["touch", "deny"],
] as const satisfies readonly (readonly [keyof typeof DEVICES, keyof typeof ANSWERS])[];

const centerOf = async (page: Page, name: string): Promise<[number, number]> => {
  const box = await page.getByRole("button", { name, exact: true }).boundingBox();
  return [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
};
const waiting = async () => (await stage.api.processes()).flatMap(({ questions }) => questions);
/** An attempt that failed has left its questions. */
const denyAll = async () => {
  for (const { id, questions } of await stage.api.processes())
    for (const { question_id } of questions)
      await stage.api.post("answer", { process: id, question_id, answer: "deny" });
};
const ask = async (uris: readonly string[]) => {
  await denyAll();
  const calls = uris.map((uri) => stage.call("fs", { action: "write", uri, content: "x\n" }));
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(uris.length), WAIT);
  return calls;
};

/** A page whose clock moves only when the test says so, and the answers that it has sent. */
async function openPaused() {
  const { page } = await openTab(stage.browser, await stage.link(), { hasTouch: true });
  await page.clock.install();
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/answer")) sent.push(Object(request.postDataJSON()).answer);
  });
  const subject = page.locator(".question-body");
  /** Lets the page work without letting a question become old. */
  const shows = (uri: string) =>
    vi.waitFor(async () => {
      await page.clock.runFor(20);
      expect(await subject.textContent()).toContain(uri);
    }, WAIT);
  return { page, sent, shows };
}

// Questions wait only while somebody looks.
beforeAll(async () => {
  const stream = await stage.api.follow();
  await stage.api.processes();
  return () => stream[Symbol.dispose]();
});

describe("a question that has just appeared", () => {
  test.each(TABLE)(
    "%s: a second %s meant for the question before does not answer it",
    async (device, answer) => {
      const uris = ["first", "second"].map((name) => `${name}-${device}-${answer}.txt`);
      const calls = await ask(uris);
      const { page, sent, shows } = await openPaused();
      const { button, key } = ANSWERS[answer];
      const press = () => DEVICES[device](page, button, key);
      await page.goto(`${stage.api.origin}/console/#/approvals`);
      await shows("first");
      await page.clock.pauseAt(Date.now() + 3_600_000);
      await page.getByRole("button", { name: button, exact: true, disabled: false }).waitFor();
      await press();
      await press();
      await shows("second");
      await press();
      await page.clock.runFor(SEEN_MS - 50);
      // Input starts the time again.
      await press();
      await page.clock.runFor(SEEN_MS - 50);
      await press();
      expect(sent).toEqual([answer]);
      expect((await waiting()).map(({ input }) => input?.["uri"])).toEqual([uris[1]]);
      await page.clock.runFor(READ_MS);
      await press();
      await Promise.all(calls);
      await vi.waitFor(() => expect(sent).toEqual([answer, answer]), WAIT);
      await page.context().close();
    },
  );
});

test("a question that is answered elsewhere leaves its place empty, and Enter denies with the typed reason", async () => {
  const calls = await ask(["mine.txt", "other.txt"]);
  const { page } = await openTab(stage.browser, await stage.link());
  await page.goto(`${stage.api.origin}/console/#/approvals`);
  await page.locator(".question-body", { hasText: "mine.txt" }).waitFor();
  const [first] = await waiting();
  expect(page.url()).toContain(first?.question_id);
  const [{ id = "" } = {}] = (await stage.api.processes()).filter(({ questions }) => questions.length > 0);
  await stage.api.post("answer", { process: id, question_id: first?.question_id, answer: "once" });
  await page.getByRole("heading", { name: "No longer waiting" }).waitFor();
  await page.keyboard.press("k");
  await page.locator(".question-body", { hasText: "other.txt" }).waitFor();
  const reason = page.getByRole("textbox", { name: /Reason/ });
  await reason.fill("not on a Friday");
  await page.keyboard.press("Escape");
  expect(await reason.evaluate((field) => field === document.activeElement)).toBe(false);
  await page.getByRole("button", { name: "Deny", disabled: false }).waitFor();
  await reason.press("Enter");
  const [allowed, denied] = await Promise.all(calls);
  expect(allowed).toMatchObject({ ok: true });
  expect(denied?.error?.message).toContain("not on a Friday");
  await page.context().close();
});

test("a session's question is answered below its transcript", async () => {
  const { page } = await openTab(stage.browser, await stage.link());
  const id = await startTask(stage, "leave a note");
  const { id: process } = await sessionIn(stage, id, "waiting");
  await page.goto(`${stage.api.origin}/console/#/sessions/${id}?process=${process}`);
  const card = page.locator(".session-question");
  await card.locator(".diff-row.added", { hasText: "# A note" }).waitFor();
  await allowOnce(page);
  await sessionIn(stage, id, "idle");
  await card.waitFor({ state: "detached" });
  await page.getByText("The tool said").waitFor();
  await page.context().close();
});
