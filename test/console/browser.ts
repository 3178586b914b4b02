import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/** What people have. */
export const CHROMIUM = "/usr/bin/chromium";
/** The same engine without windows: a tab takes a fifth of the processor time. */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";

/** A browser of the machine, without anything that looks for hosts outside. */
export const launchBrowser = (
  executable = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM,
): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env["OCTANT_CHROMIUM"] ?? executable,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** A machine with other work may need minutes for what takes a second. */
const MAX_WAIT_MS = 90_000;

export const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

export interface Tab {
  readonly page: Page;
  /** Errors of the page and of its console, and requests to other hosts. */
  readonly problems: string[];
}

interface TabOptions {
  readonly size?: keyof typeof SIZES;
  readonly theme?: "dark" | "light";
  /** Pixels of the device per pixel of the page. */
  readonly scale?: number;
  readonly hasTouch?: boolean;
}

/** Opens the console with a one-time link, as a person does. */
export async function openTab(
  browser: Browser,
  link: string,
  { size = "wide", theme = "light", scale = 1, hasTouch = false }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: theme,
    reducedMotion: "reduce",
    deviceScaleFactor: scale,
    hasTouch,
  });
  context.setDefaultTimeout(MAX_WAIT_MS);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const problems: string[] = [];
  const { host } = new URL(link);
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.host !== host) problems.push(`request: ${request.url()}`);
  });
  await page.goto(link);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return { page, problems };
}
