import { action } from "@octant/core";
import { type Acting, findTarget, invalid, TWO_FRAMES } from "@octant/host";
import { z } from "zod";
import { act, onScreen } from "./acting.ts";
import { type Point, Profile, Target, timeout, toPoint } from "./inputs.ts";
import type { UiOptions } from "./options.ts";
import { Done, PageAnswer, pageText } from "./page-answer.ts";

export const MODIFIERS = ["Alt", "Control", "Meta", "Shift"] as const;
const MAX_SCROLL = 100_000;

/** Pages report what changed; the desktop only that it was done. */
export const Acted = z.union([PageAnswer, Done]);

export const actedText = (data: z.output<typeof Acted>) =>
  "done" in data ? { body: data.done } : pageText(data);

export const ACT_ERRORS = [
  ...[
    "NOT_FOUND",
    "CONFLICT",
    "TIMEOUT",
    "UPSTREAM_ERROR",
    "UNSUPPORTED",
    "PERMISSION_DENIED",
    "EXEC_FAILED",
  ],
] as const;

const base = {
  access: "write",
  timing: "async_short",
  intent: "verify",
  openWorld: true,
  errors: ACT_ERRORS,
} as const;

/** On the desktop a target is a point. */
function screenPoint(target: string | undefined): Point {
  const point = toPoint(target);
  if (point) return point;
  throw invalid(
    "target",
    "on the screen a target is x,y in physical pixels; ui.screenshot shows where things are",
  );
}

/** The pointer cannot leave the view; nothing would happen there. */
function checkInView(page: Acting["page"], { x, y }: Point): void {
  const view = page.viewportSize();
  if (!view || (x >= 0 && y >= 0 && x < view.width && y < view.height)) return;
  throw invalid(
    "target",
    `${x},${y} is outside the view of ${view.width}x${view.height} pixels; scroll there first, or use a ref`,
  );
}

export const click = (options: UiOptions) =>
  action({
    ...base,
    summary: "Click an element, or a point of the page or the screen.",
    destructive: true,
    input: z.strictObject({
      target: Target.describe('Ref e12, selector, role=button[name="Buy"], or x,y'),
      button: z.enum(["left", "right", "middle"]).default("left"),
      count: z.int().min(1).max(3).default(1),
      modifiers: z.array(z.enum(MODIFIERS)).max(MODIFIERS.length).optional(),
      checked: z.boolean().optional(),
      timeout,
      profile: Profile,
    }),
    output: Acted,
    examples: [
      { title: "A button by its ref", input: { target: "e12" }, fails: "NOT_FOUND" },
      { title: "By role and name", input: { target: 'role=button[name="Buy"]' }, fails: "NOT_FOUND" },
    ],
    async run({ target, button, count, modifiers = [], checked, timeout: timeoutMs, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        const point = screenPoint(target);
        await screen.click(point, { button, count, modifiers }, ctx.signal);
        return { done: `clicked ${point.x},${point.y}` };
      }
      const point = toPoint(target);
      const { page } = await act(options, { profile, target, timeout: timeoutMs }, ctx, async (acting) => {
        if (checked !== undefined && !point) return acting.locator.setChecked(checked, acting.waits);
        if (!point) return acting.locator.click({ ...acting.waits, button, clickCount: count, modifiers });
        checkInView(acting.page, point);
        const { keyboard, mouse } = acting.page;
        for (const key of modifiers) await keyboard.down(key);
        await mouse.click(point.x, point.y, { button, clickCount: count }).finally(async () => {
          for (const key of modifiers) await keyboard.up(key);
        });
      });
      return page;
    },
    text: actedText,
  });

export const hover = (options: UiOptions) =>
  action({
    ...base,
    summary: "Move the pointer over an element or a point.",
    input: z.strictObject({ target: Target, profile: Profile }),
    output: Acted,
    examples: [{ title: "Show a menu", input: { target: "text=Account" }, fails: "NOT_FOUND" }],
    async run({ target, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        const point = screenPoint(target);
        await screen.move(point, ctx.signal);
        return { done: `the pointer is at ${point.x},${point.y}` };
      }
      const point = toPoint(target);
      const { page } = await act(options, { profile, target }, ctx, ({ page: shown, locator, waits }) => {
        if (!point) return locator.hover(waits);
        checkInView(shown, point);
        return shown.mouse.move(point.x, point.y);
      });
      return page;
    },
    text: actedText,
  });

const DRAG_STEPS = 8;

export const drag = (options: UiOptions) =>
  action({
    ...base,
    summary: "Drag from one element or point to another.",
    listing: "brief",
    destructive: true,
    input: z.strictObject({ target: Target, to: Target.describe("Where to drop it"), profile: Profile }),
    output: Acted,
    examples: [
      { title: "A card to another column", input: { target: "e7", to: "#done" }, fails: "NOT_FOUND" },
    ],
    async run({ target, to, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        await screen.drag(screenPoint(target), screenPoint(to), ctx.signal);
        return { done: `dragged ${target} to ${to}` };
      }
      const from = toPoint(target);
      const end = toPoint(to);
      const { page } = await act(
        options,
        { profile, target },
        ctx,
        async ({ tab, page: shown, locator, waits }) => {
          const goal = end ? undefined : await findTarget(tab, to);
          if (!from && goal) return locator.dragTo(goal, waits);
          const start = from ?? (await centerOf(locator));
          const stop = end ?? (goal && (await centerOf(goal)));
          if (!start || !stop) throw invalid("target", "both ends of a drag have to be visible");
          for (const point of [start, stop]) checkInView(shown, point);
          await shown.mouse.move(start.x, start.y);
          await shown.mouse.down();
          await shown.mouse.move(stop.x, stop.y, { steps: DRAG_STEPS });
          await shown.mouse.up();
        },
      );
      return page;
    },
    text: actedText,
  });

interface Boxed {
  boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null>;
}

async function centerOf(element: Boxed): Promise<Point | undefined> {
  const box = await element.boundingBox();
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : undefined;
}

export const scroll = (options: UiOptions) =>
  action({
    ...base,
    summary: "Scroll the page, an element or the screen; without dx and dy, the target into view.",
    input: z.strictObject({
      target: Target.optional(),
      dx: z.int().min(-MAX_SCROLL).max(MAX_SCROLL).optional(),
      dy: z.int().min(-MAX_SCROLL).max(MAX_SCROLL).optional().describe("Pixels down; screen: wheel steps"),
      profile: Profile,
    }),
    output: Acted,
    examples: [{ title: "Further down", input: { dy: 600 }, fails: "NOT_FOUND" }],
    async run({ target, dx = 0, dy = 0, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        await screen.scroll(target === undefined ? undefined : screenPoint(target), { dx, dy }, ctx.signal);
        return { done: `scrolled by ${dx},${dy}` };
      }
      const point = toPoint(target);
      const { page } = await act(
        options,
        { profile, target },
        ctx,
        async ({ page: shown, locator, waits }) => {
          if (target !== undefined && !point) await locator.scrollIntoViewIfNeeded(waits);
          if (dx === 0 && dy === 0) return;
          if (point) checkInView(shown, point);
          if (point) await shown.mouse.move(point.x, point.y);
          else if (target !== undefined) await locator.hover(waits);
          await shown.mouse.wheel(dx, dy);
          // The wheel only requests it; the page has moved two frames later.
          await shown.evaluate(TWO_FRAMES);
        },
      );
      return page;
    },
    text: actedText,
  });
