import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "../find-browser.ts";
import { PAGE_SCRIPT } from "./index.ts";
import type { TreeAnswer } from "./requests.ts";

const TREE = {
  op: "tree",
  interactive: false,
  depth: 0,
  prefix: "",
  maxChars: 10_000,
  maxMs: 10_000,
  until: Infinity,
};

describe.skipIf(inject("missing").includes("chromium"))("the script in pages, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    const found = findBrowser({ wanted: undefined, env: process.env, roots: [] });
    if (found.kind !== "program") throw new Error("a browser of this machine is needed");
    browser = await chromium.launch({ executablePath: found.path, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  test("an element never gets the ref of another, even when the answer that contained it was lost", async () => {
    const page = await browser.newPage();
    const read = async (): Promise<TreeAnswer> => {
      const request = JSON.stringify({ ...TREE, next: 1, remember: true, until: Date.now() + 10_000 });
      return JSON.parse(
        await page.evaluate<string>(
          `${PAGE_SCRIPT}.queryAll(document, ${JSON.stringify(request)})[0].textContent`,
        ),
      );
    };
    await page.setContent("<button>One</button><button>Two</button>");
    await read();
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button>Three</button>')");
    const { text, next } = await read();
    expect(text).toBe('- button "One" [e1]\n- button "Two" [e2]\n- button "Three" [e3]');
    expect(next).toBe(4);
  });
});
