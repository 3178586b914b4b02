import { orAborted, ToolError } from "@octant/core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { inTime, LateError } from "../waits.ts";
import { type Acting, type ActOptions, createActing } from "./acting.ts";
import { Activity, type Marker } from "./activity.ts";
import type { DownloadLimit } from "./download-limit.ts";
import {
  browserEnded,
  isTimeout,
  messageOf,
  noPage,
  pageBusy,
  pageCrashed,
  tookTooLong,
} from "./failures.ts";
import { type PageAnswer, report } from "./report.ts";
import { Tab } from "./tab.ts";
import { findTarget, toTargetError } from "./targets.ts";

export interface ProfileOptions {
  readonly name: string;
  readonly owner: string;
  readonly browser: Browser;
  readonly context: BrowserContextOptions;
  /** Why the proxy refused a URL. */
  refused(url: string): ToolError | undefined;
  readonly downloadLimit: DownloadLimit;
  onClose(profile: Profile): void;
}

const LOAD_MS = 5_000;
/** Added to the caller's timeout: Playwright gives up by itself unless the page is too busy to respond. */
const GRACE_MS = 3_000;
const VIEWPORT = { width: 1280, height: 720 };
const MAX_ERROR_CHARS = 300;

type Setup<T> = (on: T) => Promise<void>;

/** Pages that share cookies, isolated from other profiles. */
export class Profile {
  readonly name: string;
  readonly owner: string;
  /** Why the proxy refused a URL, if it did. */
  readonly refused: (url: string) => ToolError | undefined;
  // These are replaced when the profile restarts; `open` sets them first.
  activity!: Activity;
  context!: BrowserContext;
  tabs = new Map<string, Tab>();
  readonly #options: ProfileOptions;
  readonly #setups = new Map<string, Setup<BrowserContext>>();
  readonly #pageSetups = new Map<string, Setup<Page>>();
  readonly #prepared = new WeakMap<Tab, Promise<void>>();
  readonly #refs = { next: 1 };
  #tabCount = 0;
  #activeId: string | undefined;
  #lasting: BrowserContextOptions;
  /** The end of the last report, and the tabs that there were. */
  #told!: Marker;
  #known: ReadonlySet<string> = new Set();
  #last: Promise<unknown> = Promise.resolve();

  static async open(options: ProfileOptions): Promise<Profile> {
    const profile = new Profile(options);
    await profile.#open(options.context);
    return profile;
  }

  private constructor(options: ProfileOptions) {
    this.#options = options;
    this.#lasting = options.context;
    this.name = options.name;
    this.owner = options.owner;
    this.refused = options.refused;
  }

  async #open(given: BrowserContextOptions): Promise<void> {
    const { browser, downloadLimit } = this.#options;
    const context = await browser.newContext({ viewport: VIEWPORT, ...given });
    this.context = context;
    this.tabs = new Map();
    this.activity = new Activity(context, (url) => this.refused(url)?.message, downloadLimit);
    this.#told = this.activity.now();
    this.#known = new Set();
    context.on("page", (page) => {
      this.#adopt(page);
    });
    for (const setup of this.#setups.values()) await setup(context);
  }

  #adopt(page: Page): Tab {
    const known = this.tabs.values().find((tab) => tab.page === page);
    if (known) return known;
    const tab = new Tab(`t${++this.#tabCount}`, page, this.#refs);
    this.tabs.set(tab.id, tab);
    this.activity.watch(page, tab.id);
    const prepare = () => this.#prepared.set(tab, this.#prepare(page));
    prepare();
    // Chromium forgets the emulated medium in a new document when a page has a second protocol session, as ours have.
    page.on("framenavigated", (frame) => frame === page.mainFrame() && prepare());
    page.on("close", () => {
      this.tabs.delete(tab.id);
      if (this.#activeId === tab.id) this.#activeId = [...this.tabs.keys()].at(-1);
    });
    return tab;
  }

  async #prepare(page: Page): Promise<void> {
    // A page that closes meanwhile needs no setup.
    for (const setup of this.#pageSetups.values()) await setup(page).catch(() => {});
  }

  active(): Tab | undefined {
    return this.tabs.get(this.#activeId ?? "");
  }

  /** Runs now, and again at every restart of the profile; without `setup` removes it. */
  async equip(key: string, setup?: Setup<BrowserContext>): Promise<void> {
    await setup?.(this.context);
    this.#setups.delete(key);
    if (setup) this.#setups.set(key, setup);
  }

  /** Runs on every page, now and when one is opened; without `setup` removes it. */
  async equipPages(key: string, setup?: Setup<Page>): Promise<void> {
    for (const { page, hasCrashed } of this.tabs.values()) if (!hasCrashed) await setup?.(page);
    this.#pageSetups.delete(key);
    if (setup) this.#pageSetups.set(key, setup);
  }

  select(id: string): Tab {
    const tab = this.#getTab(id);
    this.#activeId = id;
    return tab;
  }

  /** Opens a tab and selects it. */
  async newTab(): Promise<Tab> {
    this.#checkBrowser();
    const tab = this.#adopt(await this.context.newPage());
    await this.#prepared.get(tab);
    this.#activeId = tab.id;
    this.#known = new Set([...this.#known, tab.id]);
    return tab;
  }

  /** Performs an exclusive action and reports its effects. */
  act<T>(
    given: ActOptions,
    work: (acting: Acting) => Promise<T>,
  ): Promise<{ readonly value?: T; readonly page: PageAnswer }> {
    return this.#alone(given.signal, async () => {
      const { activity } = this;
      const tab = this.#getTab(given.tab);
      this.#checkDialog(tab);
      const since = activity.now();
      const working = this.#run(tab, given, work);
      // The action that opened a dialog waits until it is answered.
      working.catch(() => {});
      const value = await Promise.race([working, activity.dialogOpens().then(() => undefined)]);
      // Events between two actions are reported with the later one.
      const page = await report(this, { ...given, tab, since, told: this.#told, known: this.#known });
      this.#told = this.activity.now();
      this.#known = new Set(this.tabs.keys());
      return { ...(value !== undefined && { value }), page };
    });
  }

  /** The same without reading the page afterwards. */
  look<T>(given: ActOptions, work: (acting: Acting) => Promise<T>): Promise<T> {
    return this.#alone(given.signal, async () => {
      const tab = this.#getTab(given.tab);
      this.#checkDialog(tab);
      return this.#run(tab, given, work);
    });
  }

  /** Restarts with further options; keeps cookies and the addresses of tabs. */
  restart(given: BrowserContextOptions, signal: AbortSignal): Promise<void> {
    return this.#alone(signal, async () => {
      this.#checkBrowser();
      const urls = [...this.tabs.values()].map(({ page }) => page.url());
      const old = this.context;
      const storageState = await old.storageState();
      // First the new one: options that the browser refuses must not cost the pages.
      await this.#open({ ...this.#lasting, ...given, storageState });
      this.#lasting = { ...this.#lasting, ...given };
      await old.close();
      for (const url of urls) {
        const { page } = await this.newTab();
        if (url !== "about:blank") await page.goto(url, { timeout: LOAD_MS }).catch(() => {});
      }
    });
  }

  async close(): Promise<void> {
    this.#options.onClose(this);
    this.activity.dialog?.dialog.dismiss().catch(() => {});
    await this.context.close().catch(() => {});
  }

  #checkBrowser(): void {
    if (!this.#options.browser.isConnected()) throw browserEnded();
  }

  #getTab(id: string | undefined): Tab {
    this.#checkBrowser();
    const found = this.tabs.get(id ?? this.#activeId ?? "");
    if (!found && id !== undefined)
      throw new ToolError("NOT_FOUND", `there is no tab ${id}; ui.tabs lists them`, { id });
    if (!found) throw noPage(this.name);
    found.check();
    return found;
  }

  /** Serialised: of two concurrent actions each would see the other's effects. */
  async #alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    try {
      await orAborted(before, signal);
      return await work();
    } finally {
      turn.resolve();
    }
  }

  async #run<T>(
    tab: Tab,
    { target, timeoutMs, signal }: ActOptions,
    work: (acting: Acting) => Promise<T>,
  ): Promise<T> {
    const { page } = tab;
    const locator = target === undefined ? page.locator("body") : await findTarget(tab, target);
    const waits = { timeout: timeoutMs, signal };
    const acting = createActing(tab, this.context, locator, waits);
    try {
      return await orAborted(inTime(work(acting), timeoutMs + GRACE_MS), signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof ToolError) throw cause;
      if (cause instanceof LateError) throw pageBusy(timeoutMs);
      this.#checkBrowser();
      // Playwright may say so before its event of the crash.
      if (/crashed/i.test(messageOf(cause))) throw pageCrashed();
      tab.check();
      if (page.isClosed()) throw noPage(this.name);
      if (target !== undefined) throw await toTargetError(cause, target, locator, timeoutMs);
      if (isTimeout(cause)) throw tookTooLong("the page", timeoutMs, cause);
      const message = `the browser could not do it: ${messageOf(cause)}`;
      throw new ToolError("UPSTREAM_ERROR", message, {}, { cause });
    }
  }

  #checkDialog(tab: Tab): void {
    const open = this.activity.dialog;
    if (open?.tab !== tab.id) return;
    const type = open.dialog.type();
    const shown = `${type === "alert" ? "an" : "a"} ${type} that says '${open.dialog.message().slice(0, MAX_ERROR_CHARS)}'`;
    const message = `the page shows ${shown}; answer it with ui.dialog first`;
    throw new ToolError("CONFLICT", message, { expected: "no open dialog", actual: type });
  }
}
