import { execFileSync } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import type { OctantProcess } from "../../packages/console/src/api.ts";
import { type ConsolePage, openPage } from "../console-client.ts";
import { launchBrowser, openTab, type SIZES, type Tab } from "./browser.ts";
import { createModel } from "./model.ts";
import { openScene, type Scene } from "./scene.ts";

const WAIT = { timeout: 60_000, interval: 50 };

export interface Stage {
  readonly browser: Browser;
  readonly scene: Scene;
  /** The API, for what a test needs and does not show. */
  readonly api: ConsolePage;
  /** A call of the MCP client of the other server. */
  call: Scene["client"]["call"];
  /** A new one-time link. */
  link(): Promise<string>;
}

/** A browser and a machine for the tests of one file. */
export function useStage(options?: Parameters<typeof openScene>[1]): Stage {
  let browser: Browser;
  let scene: Scene;
  let api: ConsolePage;
  beforeAll(async () => {
    scene = await openScene(
      createModel(() => scene.project.root),
      options,
    );
    browser = await launchBrowser();
    api = await openPage(scene.link);
  });
  afterAll(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });
  return {
    get browser() {
      return browser;
    },
    get scene() {
      return scene;
    },
    get api() {
      return api;
    },
    call: (tool, input) => scene.client.call(tool, input),
    link: () => api.link(),
  };
}

export interface Visitor {
  readonly page: Page;
  readonly problems: readonly string[];
  /** Loads the page anew at a place such as `live?status=failed`, so that no test depends on the one before. */
  visit(place: string): Promise<Page>;
}

/** A signed-in browser window for the tests of one group. */
export function useVisitor(stage: Stage, size: keyof typeof SIZES): Visitor {
  let tab: Tab;
  let visits = 0;
  beforeAll(async () => {
    tab = await openTab(stage.browser, await stage.link(), { size });
  });
  afterAll(async () => {
    await tab?.page.context().close();
  });
  return {
    get page() {
      return tab.page;
    },
    get problems() {
      return tab.problems;
    },
    async visit(place) {
      const { page } = tab;
      // From then on the page sees every event of the processes that run now.
      const isReady = Promise.all([
        page.waitForResponse((response) => response.url().includes("/console/api/events")),
        page.waitForResponse((response) => response.url().endsWith("/console/api/processes")),
      ]);
      visits += 1;
      await page.goto(`${stage.api.origin}/console/?visit=${visits}#/${place}`);
      await isReady;
      await page.getByRole("heading", { level: 1 }).waitFor();
      // A call of before the console attended the server has no subject; a busy server is attended, and listed, later.
      await expect.poll(async () => (await stage.api.processes()).some(isServing), WAIT).toBe(true);
      return page;
    },
  };
}

const isServing = ({ command, state }: OctantProcess): boolean => command === "serve" && state !== "silent";

export const row = (page: Page, text: string | RegExp) => page.locator(".row", { hasText: text }).first();
export const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const allowButton = (page: Page) => page.locator("button:enabled", { hasText: "Allow once" });
/** Scrolls a question to its end, as a person who reads it does, until it can be allowed. */
export async function readToEnd(page: Page): Promise<void> {
  const readOn = async () => {
    await page.locator(".question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
    return allowButton(page).count();
  };
  await expect.poll(readOn).toBe(1);
}
export async function allowOnce(page: Page): Promise<void> {
  await readToEnd(page);
  await allowButton(page).click();
}
export const closesDialog = (page: Page) => page.getByRole("dialog").waitFor({ state: "detached" });

/** Starts a session with a task; the files are as they were committed. */
export async function startTask({ api, scene }: Stage, message: string): Promise<string> {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: scene.project.root });
  git("checkout", "--quiet", ".");
  git("clean", "--quiet", "-fd");
  const { data, error } = await api.call(api.me.process, "console", "start", { message });
  expect(error).toBeNull();
  return Object(data).session_id;
}

/** The process and the session once the session is in this state. */
export async function sessionIn(
  { api }: Stage,
  session_id: string,
  state: OctantProcess["state"],
): Promise<OctantProcess> {
  return vi.waitFor(async () => {
    const found = (await api.processes()).find(({ sessions }) =>
      sessions.some((session) => session.session_id === session_id && session.state === state),
    );
    if (!found) throw new Error(`the session is not ${state}`);
    return found;
  }, WAIT);
}

/** Runs a task to its end; its question is answered with yes. */
export async function finishTask(stage: Stage, message: string): Promise<string> {
  const session_id = await startTask(stage, message);
  const { id, questions } = await sessionIn(stage, session_id, "waiting");
  const [question] = questions;
  await stage.api.post("answer", { process: id, question_id: question?.question_id, answer: "once" });
  await sessionIn(stage, session_id, "idle");
  return session_id;
}
