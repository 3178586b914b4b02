import type { CDPSession, Page } from "playwright-core";
import { PAGE_SCRIPT } from "./page-script/index.ts";

/** Playwright's isolated world in each document; pages cannot reach it. */
const WORLD = /^__playwright_utility_world/;

/**
 * Queries our script in a document that Playwright has not used yet. Playwright would inject its own script of 300 KB
 * first, which takes as long as loading a small page; it does so with the first action instead.
 */
export function createNewDocumentReader(page: Page): (request: unknown) => Promise<string | undefined> {
  let opening: Promise<CDPSession> | undefined;

  return async (request) => {
    opening ??= page.context().newCDPSession(page);
    const session = await opening;
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
      const expression = `${PAGE_SCRIPT}.queryAll(document, ${JSON.stringify(JSON.stringify(request))})[0].textContent`;
      const { result } = await session.send("Runtime.evaluate", {
        ...{ contextId, expression, returnByValue: true },
      });
      return typeof result.value === "string" ? result.value : undefined;
    } finally {
      session.off("Runtime.executionContextCreated", learn);
      session.send("Runtime.disable").catch(() => {});
    }
  };
}

interface ExecutionContext {
  readonly context: {
    readonly id: number;
    readonly name: string;
    readonly auxData?: Readonly<Record<string, string>>;
  };
}
