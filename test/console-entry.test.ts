import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { SIZES } from "./console/browser.ts";
import { closesDialog, row, shows, useStage, useVisitor } from "./console/stage.ts";
import { runOctant } from "./octant-process.ts";

const stage = useStage();

describe.each(["wide", "phone"] as const)("the way into the console at the size %s", (size) => {
  const visitor = useVisitor(stage, size);
  const newPage = async () => (await stage.browser.newContext({ viewport: SIZES[size] })).newPage();

  test("a used link explains itself and leads to a token, and a wrong token is refused", async () => {
    const link = await stage.link();
    const first = await newPage();
    await first.goto(link);
    await first.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    expect(first.url()).toBe(`${stage.api.origin}/console/#/now`);
    // In the browser that used it, it leads to the page all the same.
    await first.goto(link);
    await first.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    await first.context().close();

    const page = await newPage();
    await page.goto(link);
    await page.getByRole("heading", { name: "This link was used or has expired" }).waitFor();
    await shows(page, "octant console");
    await page.getByLabel("Or use a token of this server").fill("oct_0000000000000000_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await shows(page, "the token is unknown, expired or not for this server");
    const { project, env } = stage.scene;
    const made = await runOctant(["token", "create", "--scope", "admin:ro", "--json"], {
      cwd: project.root,
      env,
    });
    await page.getByLabel("Or use a token of this server").fill(JSON.parse(made.stdout).token);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    // This token may look and change nothing.
    await page.goto(`${stage.api.origin}/console/#/sessions`);
    expect(await page.getByRole("button", { name: "New session" }).isDisabled()).toBe(true);
    await page.context().close();
  });

  test("an address without a sign-in says how to get a link", async () => {
    const page = await newPage();
    await page.goto(`${stage.api.origin}/console/#/live`);
    await page.getByRole("heading", { name: "Sign in to Octant" }).waitFor();
    await page.context().close();
  });

  test("another server on this machine gets the cookie and can do nothing with it", async () => {
    const cookies: string[] = [];
    const other = createServer(({ headers }, response) => {
      if (headers.cookie) cookies.push(headers.cookie);
      response.setHeader("content-type", "text/html").end("<!doctype html><title>other</title>");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await visitor.visit("now");
    const page = await visitor.page.context().newPage();
    await page.goto(`http://127.0.0.1:${port}/console/x`);
    const key = await page.evaluate(() => Object.values(localStorage).join());
    await page.close();
    other.close();
    expect(cookies.join()).toContain("octant_console_");
    expect(key).toBe("");
    const stolen = cookies.at(-1) ?? "";
    const share = /octant_console_\d+=([^;]+)/.exec(stolen)?.[1] ?? "";
    for (const headers of [
      { cookie: stolen },
      { cookie: stolen, "x-octant-console": share },
      { authorization: `Bearer ${share}` },
    ] as readonly Record<string, string>[])
      expect((await fetch(new URL("/console/api/me", stage.api.origin), { headers })).status).toBe(401);
  });

  test("the keyboard goes to every view, moves in lists, opens, closes and helps", async () => {
    const page = await visitor.visit("now");
    for (const [key, title] of VIEW_KEYS) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Pause or continue").waitFor();
    await page.keyboard.press("Escape");
    await closesDialog(page);
    await stage.call("fs", { action: "stat", uri: "package.json" });
    await stage.call("fs", { action: "read", uri: "README.md" });
    await row(page, "fs.read").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("fs.stat");
    await expect.poll(() => page.locator(".row", { hasText: "fs.read" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Call" });
    await panel.getByText('"kind": "file"').waitFor();
    const controls: unknown[] = [];
    while (controls.length < 3) {
      await page.keyboard.press("Tab");
      controls.push(await page.evaluate(() => document.activeElement?.textContent));
    }
    // The cross has no text.
    expect(controls).toEqual(["", "Copy as octant call", "Run again"]);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Continue" }).waitFor();
    const theme = await page.evaluate(() => document.documentElement.dataset["theme"]);
    await page.keyboard.press("t");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset["theme"])).not.toBe(theme);
  });

  test("Tab reaches every control, beginning with a link that skips the navigation", async () => {
    const page = await visitor.visit("live");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
    const missed = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("a, button, input, select, textarea, summary")]
        .filter((one) => one.offsetParent !== null && one.tabIndex < 0 && one.role !== "tab")
        .map((one) => one.outerHTML.slice(0, 100)),
    );
    expect(missed).toEqual([]);
  });
});

const VIEW_KEYS = [
  ["n", "Now"],
  ["a", "Approvals"],
  ["j", "Jobs and processes"],
  ["s", "Sessions"],
  ["f", "Files"],
  ["h", "Health"],
  ["l", "Live"],
] as const;
