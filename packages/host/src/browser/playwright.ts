import { PAGE_SCRIPT } from "./page-script/index.ts";

export type { Page, Route } from "playwright-core";

type Playwright = typeof import("playwright-core");

// Selector engines are global to the process: registering one twice is an error.
let loading: Promise<Playwright> | undefined;

/** Loaded with the first browser: it takes a second. */
export const loadPlaywright = (): Promise<Playwright> => {
  loading ??= load();
  return loading;
};

async function load(): Promise<Playwright> {
  const playwright = await import("playwright-core");
  await playwright.selectors.register(ENGINE, { content: PAGE_SCRIPT }, { contentScript: true });
  return playwright;
}

const ENGINE = "octant";

/** The selector that passes a request to the page's script. */
export const toPageSelector = (request: unknown): string => `${ENGINE}=${JSON.stringify(request)}`;
