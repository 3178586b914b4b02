import { ToolError } from "@octant/core";
import type { Locator, Page } from "playwright-core";
import { inTime, LateError } from "../waits.ts";
import { invalid, isTimeout, messageOf, pageBusy, tookTooLong } from "./failures.ts";
import { toPageSelector } from "./playwright.ts";
import { takeSnapshot } from "./snapshots.ts";
import type { Tab } from "./tab.ts";

const REF = /^(?:f(\d+))?e\d+$/;
const MAX_CANDIDATES = 5;
const LOOK_MS = 2_000;

/** Resolves a ref or a selector to an element. A ref whose element is gone is CONFLICT, with similar elements. */
export async function findTarget(tab: Tab, target: string): Promise<Locator> {
  const [isRef, frameNumber] = REF.exec(target) ?? [];
  if (!isRef) return tab.page.locator(byRole(target) ?? target);
  const frame = frameNumber === undefined ? tab.page.mainFrame() : tab.frames.get(Number(frameNumber));
  const locator = frame?.locator(toPageSelector({ op: "ref", ref: target }));
  if (locator && (await inTime(locator.count(), LOOK_MS).catch(orNone)) === 1) return locator;
  throw await staleRef(tab, target);
}

const ROLE_AND_NAME = /^role=([a-z]+)\[name=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?: ([is]))?\]$/;

/** Our own search by role and name; Playwright's takes half a minute on a page of 12,000 rows. */
function byRole(target: string): string | undefined {
  const [, role, quoted = "", flag] = ROLE_AND_NAME.exec(target) ?? [];
  if (role === undefined) return undefined;
  const name = quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1");
  return toPageSelector({ op: "role", role, name, anyCase: flag === "i" });
}

/** A detached frame has no elements; a busy page is a different case. */
const orNone = (cause: unknown): number => {
  if (cause instanceof LateError) throw pageBusy(LOOK_MS);
  return 0;
};

async function staleRef(tab: Tab, ref: string): Promise<ToolError> {
  const label = tab.labels.get(ref);
  if (label === undefined)
    return new ToolError("NOT_FOUND", `${ref} is not a ref of this page; ui.snapshot has them`, { id: ref });
  const { text } = await takeSnapshot(tab, { interactive: true, depth: 0 });
  const lines = text.split("\n").map((line) => line.trim().replace(/^- /, ""));
  const [role = ""] = label.split(" ");
  const same = lines.filter((line) => line.startsWith(`${label} [`));
  const alike = lines.filter((line) => line.startsWith(`${role} `));
  const candidates = (same.length > 0 ? same : alike).slice(0, MAX_CANDIDATES);
  const now =
    candidates.length > 0 ? `now there is: ${candidates.join("; ")}` : "no similar element exists now";
  const message = `${ref} (${label}) is no longer on the page; ${now}`;
  return new ToolError("CONFLICT", message, { expected: `${label} [${ref}]`, actual: candidates.join("\n") });
}

/** Determines why an action on a target failed. */
export async function toTargetError(
  cause: unknown,
  target: string,
  locator: Locator,
  timeoutMs: number,
): Promise<unknown> {
  if (cause instanceof ToolError) return cause;
  const count = await inTime(locator.count(), LOOK_MS).catch((failure: unknown) =>
    failure instanceof LateError ? pageBusy(timeoutMs) : invalid("target", messageOf(failure)),
  );
  if (count instanceof ToolError) return count;
  if (count > 1) return manyMatch(target, count, locator);
  if (count === 0 && isTimeout(cause)) {
    const where = (await isInFrame(locator.page(), target)) ? " outside of frames; one frame has it" : "";
    const message = `nothing matched '${target}' within ${timeoutMs} ms${where}; look with ui.snapshot`;
    return new ToolError("NOT_FOUND", message, { id: target });
  }
  if (isTimeout(cause)) return tookTooLong(`'${target}'`, timeoutMs, cause);
  return invalid("target", messageOf(cause), cause);
}

/** Selectors search the page itself; refs also reach into its frames. */
async function isInFrame(page: Page, target: string): Promise<boolean> {
  const inner = page.frames().filter((frame) => frame !== page.mainFrame());
  const counts = inner
    .slice(0, MAX_CANDIDATES)
    .map((frame) => inTime(frame.locator(target).count(), LOOK_MS));
  return (await Promise.all(counts.map((count) => count.catch(() => 0)))).some((count) => count > 0);
}

async function manyMatch(target: string, count: number, locator: Locator): Promise<ToolError> {
  const texts = await Promise.all(
    Array.from({ length: Math.min(count, MAX_CANDIDATES) }, (_, index) =>
      locator
        .nth(index)
        .textContent({ timeout: LOOK_MS })
        .catch(() => ""),
    ),
  );
  const shown = texts.map((text) => `'${(text ?? "").replace(/\s+/g, " ").trim().slice(0, 40)}'`).join(", ");
  return invalid("target", `${count} elements match '${target}' (${shown}); use a ref, or add >> nth=0`);
}
