import { ToolError } from "@octant/core";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { inTime, LateError, orAborted } from "../waits.ts";
import { type Activity, createActivity, type Marker } from "./activity.ts";
import type { DownloadLimit } from "./download-limit.ts";
import { browserEnded, isTimeout, messageOf, noPage, pageBusy, tookTooLong } from "./failures.ts";
import { type Report, report } from "./report.ts";
import { runScript, untilScript } from "./scripts.ts";
import { createTab, type Tab } from "./tab.ts";
import { findTarget, toTargetError } from "./targets.ts";

export interface ActOptions {
  readonly tab?: string | undefined;
  readonly target?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Acting {
  readonly tab: Tab;
  readonly page: Page;
  readonly context: BrowserContext;
  /** The locator of the given target. */
  readonly locator: Locator;
  /** Passed to everything that Playwright waits for. */
  readonly waits: { readonly timeout: number; readonly signal: AbortSignal };
  /** Another target; with `mayBeGone`, undefined when the element of a ref is gone. */
  find(target: string, mayBeGone?: boolean): Promise<Locator | undefined>;
  /** Runs a caller's script, on the target or on the page; INVALID_ARGUMENT when the script fails. */
  run(script: string, onTarget: boolean): Promise<unknown>;
  /** Resolves when a caller's script returns a true value. */
  until(script: string): Promise<void>;
}

/** Pages that share cookies, isolated from other profiles. */
export interface Profile {
  readonly name: string;
  readonly owner: string;
  readonly activity: () => Activity;
  readonly context: () => BrowserContext;
  readonly tabs: () => ReadonlyMap<string, Tab>;
  active(): Tab | undefined;
  /** Why the proxy refused a URL, if it did. */
  refused(url: string): ToolError | undefined;
  /** Runs now, and again at every restart of the profile; without `setup` removes it. */
  equip(name: string, setup?: (context: BrowserContext) => Promise<void>): Promise<void>;
  select(id: string): Tab;
  /** Opens a tab and selects it. */
  newTab(): Promise<Tab>;
  /** Performs an exclusive action and reports its effects. */
  act<T>(options: ActOptions, work: (acting: Acting) => Promise<T>): Promise<{ value?: T; report: Report }>;
  /** The same without reading the page afterwards. */
  look<T>(options: ActOptions, work: (acting: Acting) => Promise<T>): Promise<T>;
  /** Restarts with further options; keeps cookies and the addresses of tabs. */
  restart(options: BrowserContextOptions, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ProfileOptions {
  readonly name: string;
  readonly owner: string;
  readonly browser: Browser;
  readonly context: BrowserContextOptions;
  /** Why the proxy refused a URL. */
  refused(url: string): ToolError | undefined;
  readonly downloadLimit: DownloadLimit;
}

const LOAD_MS = 5_000;
/** Added to the caller's timeout: Playwright gives up by itself unless the page is too busy to respond. */
const GRACE_MS = 3_000;

export async function createProfile(options: ProfileOptions): Promise<Profile> {
  const { name, owner, browser, refused } = options;
  const refs = { next: 1 };
  let counted = 0;
  let tabs = new Map<string, Tab>();
  let activeId: string | undefined;
  let context: BrowserContext;
  let activity: Activity;
  let told: Marker;
  let known: ReadonlySet<string>;
  let last: Promise<unknown> = Promise.resolve();
  const setups = new Map<string, (context: BrowserContext) => Promise<void>>();

  const adopt = (page: Page): Tab => {
    const known = [...tabs.values()].find((tab) => tab.page === page);
    if (known) return known;
    const tab = createTab(`t${++counted}`, page, refs);
    tabs.set(tab.id, tab);
    activity.watch(page, tab.id);
    page.on("close", () => {
      tabs.delete(tab.id);
      if (activeId === tab.id) activeId = [...tabs.keys()].at(-1);
    });
    return tab;
  };
  const open = async (given: BrowserContextOptions) => {
    context = await browser.newContext({ viewport: VIEWPORT, ...given });
    tabs = new Map();
    activity = createActivity(context, (url) => refused(url)?.message, options.downloadLimit);
    told = activity.now();
    known = new Set();
    context.on("page", adopt);
    for (const setup of setups.values()) await setup(context);
  };
  let lasting = options.context;
  await open(lasting);

  const getTab = (id: string | undefined): Tab => {
    if (!browser.isConnected()) throw browserEnded();
    const found = tabs.get(id ?? activeId ?? "");
    if (!found && id !== undefined)
      throw new ToolError("NOT_FOUND", `there is no tab ${id}; ui.tabs lists them`, { id });
    if (!found) throw noPage(name);
    found.check();
    return found;
  };

  /** Serialised: of two concurrent actions each would see the other's effects. */
  const alone = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    try {
      await orAborted(before, signal);
      return await work();
    } finally {
      turn.resolve();
    }
  };

  const run = async <T>(
    tab: Tab,
    { target, timeoutMs, signal }: ActOptions,
    work: (acting: Acting) => Promise<T>,
  ): Promise<T> => {
    const locator = target === undefined ? tab.page.locator("body") : await findTarget(tab, target);
    const waits = { timeout: timeoutMs, signal };
    try {
      const find = (other: string, mayBeGone = false) =>
        findTarget(tab, other).catch((cause: unknown) => {
          if (mayBeGone && cause instanceof ToolError && cause.code === "CONFLICT") return undefined;
          throw cause;
        });
      const { page } = tab;
      const evaluate: Acting["run"] = (script, onTarget) => runScript(tab, locator, script, onTarget, waits);
      const until: Acting["until"] = (script) => untilScript(tab, script, waits);
      const acting: Acting = { tab, page, context, locator, waits, find, run: evaluate, until };
      return await orAborted(inTime(work(acting), timeoutMs + GRACE_MS), signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof ToolError) throw cause;
      if (cause instanceof LateError) throw pageBusy(timeoutMs);
      if (!browser.isConnected()) throw browserEnded();
      tab.check();
      if (tab.page.isClosed()) throw noPage(name);
      if (target !== undefined) throw await toTargetError(cause, target, locator, timeoutMs);
      if (isTimeout(cause)) throw tookTooLong("the page", timeoutMs, cause);
      throw new ToolError(
        "UPSTREAM_ERROR",
        `the browser could not do it: ${messageOf(cause)}`,
        {},
        { cause },
      );
    }
  };

  const checkDialog = (tab: Tab) => {
    const open = activity.dialog();
    if (open?.tab !== tab.id) return;
    const message = `the page shows ${describeDialog(open.dialog)}; answer it with ui.dialog first`;
    throw new ToolError("CONFLICT", message, { expected: "no open dialog", actual: open.dialog.type() });
  };

  /** Events between two actions are reported with the later one. */
  const tell = async (tab: Tab, since: Marker, { timeoutMs, signal }: ActOptions): Promise<Report> => {
    const made = await report({ tab, tabs, activity, refused, since, told, known, timeoutMs, signal });
    told = activity.now();
    known = new Set(tabs.keys());
    return made;
  };

  return {
    name,
    owner,
    activity: () => activity,
    context: () => context,
    tabs: () => tabs,
    active: () => (activeId === undefined ? undefined : tabs.get(activeId)),
    refused,
    async equip(key, setup) {
      await setup?.(context);
      setups.delete(key);
      if (setup) setups.set(key, setup);
    },
    select(id) {
      const tab = getTab(id);
      activeId = id;
      return tab;
    },
    async newTab() {
      if (!browser.isConnected()) throw browserEnded();
      const tab = adopt(await context.newPage());
      activeId = tab.id;
      known = new Set([...known, tab.id]);
      return tab;
    },
    act: (given, work) =>
      alone(given.signal, async () => {
        const tab = getTab(given.tab);
        checkDialog(tab);
        const since = activity.now();
        const working = run(tab, given, work);
        // The action that opened a dialog waits until it is answered.
        working.catch(() => {});
        const value = await Promise.race([working, activity.dialogOpens().then(() => undefined)]);
        return {
          ...(value !== undefined && { value }),
          report: await tell(tab, since, given),
        };
      }),
    look: (given, work) =>
      alone(given.signal, async () => {
        const tab = getTab(given.tab);
        checkDialog(tab);
        return run(tab, given, work);
      }),
    restart: (given, signal) =>
      alone(signal, async () => {
        if (!browser.isConnected()) throw browserEnded();
        const urls = [...tabs.values()].map(({ page }) => page.url());
        const old = context;
        const storageState = await old.storageState();
        // First the new one: options that the browser refuses must not cost the pages.
        await open({ ...lasting, ...given, storageState });
        lasting = { ...lasting, ...given };
        await old.close();
        for (const url of urls) {
          const page = await context.newPage();
          activeId = adopt(page).id;
          if (url !== "about:blank") await page.goto(url, { timeout: LOAD_MS }).catch(() => {});
        }
        known = new Set(tabs.keys());
      }),
    async close() {
      activity
        .dialog()
        ?.dialog.dismiss()
        .catch(() => {});
      await context.close().catch(() => {});
    },
  };
}

const VIEWPORT = { width: 1280, height: 720 };
const MAX_ERROR_CHARS = 300;

const describeDialog = (dialog: { type(): string; message(): string }): string =>
  `${dialog.type() === "alert" ? "an" : "a"} ${dialog.type()} that says '${dialog.message().slice(0, MAX_ERROR_CHARS)}'`;
