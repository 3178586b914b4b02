import { ToolError } from "@octant/core";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { runScript, untilScript } from "./scripts.ts";
import type { Tab } from "./tab.ts";
import { findTarget } from "./targets.ts";

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
  /** Runs a script on an element. */
  runOn(element: Locator, script: string): Promise<unknown>;
  /** Resolves when a caller's script returns a true value. */
  until(script: string): Promise<void>;
}

export const createActing = (
  tab: Tab,
  context: BrowserContext,
  locator: Locator,
  waits: Acting["waits"],
): Acting => ({
  tab,
  page: tab.page,
  context,
  locator,
  waits,
  find: (other, mayBeGone = false) =>
    findTarget(tab, other).catch((cause: unknown) => {
      if (mayBeGone && cause instanceof ToolError && cause.code === "CONFLICT") return undefined;
      throw cause;
    }),
  run: (script, onTarget) => runScript(tab, locator, script, onTarget, waits),
  runOn: (element, script) => runScript(tab, element, script, true, waits),
  until: (script) => untilScript(tab, script, waits),
});
