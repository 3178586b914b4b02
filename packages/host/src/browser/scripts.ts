import { ToolError } from "@octant/core";
import type { Locator, Page } from "playwright-core";
import { invalid, isTimeout, messageOf } from "./failures.ts";
import { inTime, LateError } from "./waits.ts";

/** Runs a caller's script. The caller sees what it throws; failures of the page are reported differently. */
export async function runScript(
  page: Page,
  locator: Locator,
  script: string,
  onTarget: boolean,
  waits: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<unknown> {
  if (onTarget) await locator.waitFor({ ...waits, state: "attached" });
  const given = toEvaluated(script);
  const running = onTarget ? locator.evaluate(given, undefined, waits) : page.evaluate(given);
  try {
    return await inTime(running, waits.timeout);
  } catch (cause) {
    if (cause instanceof LateError)
      throw new ToolError("TIMEOUT", `the script did not end within ${waits.timeout} ms`, {
        after_ms: waits.timeout,
      });
    if (page.isClosed() || isTimeout(cause)) throw cause;
    throw invalid("script", messageOf(cause), cause);
  }
}

/** Playwright calls a function and evaluates a string; it sends the source of both. */
const toEvaluated = (script: string): string | (() => unknown) =>
  FUNCTION.test(script) ? Object.assign(() => {}, { toString: () => script }) : script;

const FUNCTION = /^\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|[\w$]+\s*=>)/;
