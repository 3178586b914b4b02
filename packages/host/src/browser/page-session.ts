import type { CDPSession, Page } from "playwright-core";
import { PAGE_SCRIPT } from "./page-script/index.ts";

/** Playwright's isolated world in each document; pages cannot reach it. */
const WORLD = /^__playwright_utility_world/;

/** What Playwright's own interface does not offer, over a protocol session of ours. */
export interface PageSession {
  /** Queries our script in a new document; undefined when that fails. */
  readNew(request: unknown): Promise<string | undefined>;
  /** Resolves when the page is not busy. */
  responds(): Promise<void>;
  /** There is an entry that many places further in the history. */
  hasHistory(offset: number): Promise<boolean>;
  /** Ends the script that the page is running. Without effect once the page is being left. */
  endScript(): Promise<void>;
}

export function createPageSession(page: Page): PageSession {
  let opening: Promise<CDPSession> | undefined;
  const open = () => {
    opening ??= page.context().newCDPSession(page);
    return opening;
  };
  return {
    readNew: async (request) => readNew(await open(), request),
    async responds() {
      await (await open()).send("Page.getFrameTree");
    },
    async hasHistory(offset) {
      const { currentIndex, entries } = await (await open()).send("Page.getNavigationHistory");
      return entries[currentIndex + offset] !== undefined;
    },
    async endScript() {
      await (await open()).send("Runtime.terminateExecution");
    },
  };
}

/**
 * Queries our script in a document that Playwright has not used yet. Playwright would inject its own script of 300 KB
 * first, which takes as long as loading a small page; it does so with the first action instead.
 */
async function readNew(session: CDPSession, request: unknown): Promise<string | undefined> {
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
      ...{ contextId, expression, returnByValue: true },
    });
    return typeof result.value === "string" ? result.value : undefined;
  } finally {
    session.off("Runtime.executionContextCreated", learn);
    session.send("Runtime.disable").catch(() => {});
  }
}

interface ExecutionContext {
  readonly context: {
    readonly id: number;
    readonly name: string;
    readonly auxData?: Readonly<Record<string, string>>;
  };
}
