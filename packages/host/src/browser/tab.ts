import type { CDPSession, Frame, Page } from "playwright-core";
import { inTime, LateError } from "../waits.ts";
import { pageCrashed, unreadable } from "./failures.ts";
import { PAGE_SCRIPT } from "./page-script/index.ts";

const RESPONSE_MS = 1_500;
/** Playwright's isolated world in each document; pages cannot reach it. */
const WORLD = /^__playwright_utility_world/;

/** One page of a profile. */
export class Tab {
  readonly id: string;
  readonly page: Page;
  /** The next free ref; shared by the tabs of a profile: a ref of one page is never valid on another. */
  readonly refs: { next: number };
  /** The elements behind refs, as `button "Go"`. */
  readonly labels = new Map<string, string>();
  /** Frames that have refs, by the number in their refs. */
  readonly frames = new Map<number, Frame>();
  /** Its document has not been read yet. */
  isNew = true;
  hasCrashed = false;
  /** For requests that Playwright's own interface does not offer. */
  #session: Promise<CDPSession> | undefined;

  constructor(id: string, page: Page, refs: { next: number }) {
    this.id = id;
    this.page = page;
    this.refs = refs;
    page.on("crash", () => {
      this.hasCrashed = true;
    });
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) this.isNew = true;
    });
    page.on("framedetached", (frame) => {
      for (const [number, known] of this.frames) if (known === frame) this.frames.delete(number);
    });
  }

  /** Throws when the page is no longer usable. */
  check(): void {
    if (this.hasCrashed) throw pageCrashed();
  }

  /** Queries our script in a new document; undefined when there is none. */
  async askNew<T>(request: unknown, ms: number): Promise<T | undefined> {
    if (!this.isNew) return undefined;
    this.isNew = false;
    const text = await inTime(this.#readNew(request), ms).catch((cause: unknown) => {
      if (cause instanceof LateError) throw unreadable(ms, cause);
      return undefined;
    });
    // Our own script has written it, out of the reach of the page's.
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }

  /** Ends a script that keeps the page from responding; true when there was one. */
  async free(): Promise<boolean> {
    const session = this.#open();
    const responding = session.then((opened) => opened.send("Page.getFrameTree"));
    const isBusy = await inTime(responding, RESPONSE_MS).then(
      () => false,
      (cause: unknown) => cause instanceof LateError,
    );
    if (!isBusy) return false;
    // Without effect once the page is being left.
    const ending = session.then((opened) => opened.send("Runtime.terminateExecution"));
    await inTime(ending, RESPONSE_MS).catch(() => {});
    return true;
  }

  /** There is a page to go back or forward to. */
  async hasHistory(direction: "back" | "forward"): Promise<boolean> {
    const { currentIndex, entries } = await (await this.#open()).send("Page.getNavigationHistory");
    return entries[currentIndex + (direction === "back" ? -1 : 1)] !== undefined;
  }

  #open(): Promise<CDPSession> {
    this.#session ??= this.page.context().newCDPSession(this.page);
    return this.#session;
  }

  /**
   * Queries our script in a document that Playwright has not used yet. Playwright would inject its own script of 300 KB
   * first, which takes as long as loading a small page; it does so with the first action instead.
   */
  async #readNew(request: unknown): Promise<string | undefined> {
    const session = await this.#open();
    const worlds = new Map<string, number>();
    const learn = ({ context: { id, name, auxData } }: ExecutionContext) => {
      if (WORLD.test(name) && auxData?.["frameId"]) worlds.set(auxData["frameId"], id);
    };
    session.on("Runtime.executionContextCreated", learn);
    try {
      // Enabling reports the worlds that exist. It stays off otherwise: console output would be sent twice.
      const [{ frameTree }] = await Promise.all([
        session.send("Page.getFrameTree"),
        session.send("Runtime.enable"),
      ]);
      const contextId = worlds.get(frameTree.frame.id);
      if (contextId === undefined) return undefined;
      const expression = `${PAGE_SCRIPT}.queryAll(document, ${JSON.stringify(JSON.stringify(request))})[0]?.textContent`;
      const { result } = await session.send("Runtime.evaluate", {
        contextId,
        expression,
        returnByValue: true,
      });
      return typeof result.value === "string" ? result.value : undefined;
    } finally {
      session.off("Runtime.executionContextCreated", learn);
      session.send("Runtime.disable").catch(() => {});
    }
  }
}

interface ExecutionContext {
  readonly context: {
    readonly id: number;
    readonly name: string;
    readonly auxData?: Readonly<Record<string, string>>;
  };
}
