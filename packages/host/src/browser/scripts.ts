import { setTimeout as delay } from "node:timers/promises";
import { Script } from "node:vm";
import { attempt, ToolError } from "@octant/core";
import type { Locator } from "playwright-core";
import { inTime, LateError } from "../waits.ts";
import { invalid, isTimeout, messageOf } from "./failures.ts";
import type { Tab } from "./tab.ts";

/** Runs a caller's script. The caller sees what it throws; failures of the page are reported differently. */
export async function runScript(
  tab: Tab,
  locator: Locator,
  script: string,
  onTarget: boolean,
  waits: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<unknown> {
  const { page } = tab;
  if (onTarget) await locator.waitFor({ ...waits, state: "attached" });
  const given = toEvaluated(script, onTarget);
  const running = onTarget ? locator.evaluate(given, undefined, waits) : page.evaluate(given);
  try {
    return await inTime(running, waits.timeout);
  } catch (cause) {
    if (cause instanceof LateError) {
      const ending = (await tab.free()) ? " and was stopped" : "";
      throw new ToolError("TIMEOUT", `the script did not end within ${waits.timeout} ms${ending}`, {
        after_ms: waits.timeout,
      });
    }
    if (page.isClosed() || isTimeout(cause)) throw cause;
    throw invalid("script", messageOf(cause), cause);
  }
}

const POLL_MS = 100;

/** Resolves when the script returns a true value, also on the next page; TIMEOUT when the time is up. */
export async function untilScript(
  { page }: Pick<Tab, "page">,
  script: string,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<void> {
  const given = toEvaluated(script, false);
  const end = performance.now() + timeout;
  for (let left = timeout; left > 0; left = end - performance.now()) {
    signal.throwIfAborted();
    const isTrue = await inTime(page.evaluate(given), left).catch((cause: unknown) => {
      if (cause instanceof LateError || isLeaving(cause)) return false;
      throw page.isClosed() ? cause : invalid("script", messageOf(cause), cause);
    });
    if (isTrue) return;
    await delay(Math.max(0, Math.min(POLL_MS, end - performance.now())));
  }
  const message = `the script did not return a true value within ${timeout} ms; try it with ui.evaluate, or give a longer timeout`;
  throw new ToolError("TIMEOUT", message, { after_ms: timeout });
}

/** The page navigated away while the script ran. */
const isLeaving = (cause: unknown): boolean =>
  /Execution context was destroyed|Cannot find context/.test(messageOf(cause));

/** Playwright calls a function and evaluates a string; it sends the source of both. */
function toEvaluated(script: string, onTarget: boolean): string | (() => unknown) {
  const source = toFunction(script, onTarget);
  return source === undefined ? script : Object.assign(() => {}, { toString: () => source });
}

/** Models also write `return x`, `await x` and, for a target, an expression with `element`. */
function toFunction(script: string, onTarget: boolean): string | undefined {
  if (FUNCTION.test(script)) return script;
  if (!onTarget && parses(script)) return undefined;
  return [`async (element) => (\n${script}\n)`, `async (element) => {\n${script}\n}`].find(parses);
}

/** Compiles it, and does not run it. */
const parses = (script: string): boolean => attempt(() => new Script(script)) !== undefined;

const FUNCTION = /^\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|[\w$]+\s*=>)/;
