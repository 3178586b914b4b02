import { type Acting, findTarget, invalid, TWO_FRAMES } from "@octant/host";
import { z } from "zod";
import { acting } from "./acting.ts";
import { type Point, Profile, Target, timeout, toPoint } from "./inputs.ts";

export const MODIFIERS = ["Alt", "Control", "Meta", "Shift"] as const;
const MAX_SCROLL = 100_000;

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

export const click = acting({
  summary: "Click an element, or a point of the page or the screen.",
  openWorld: true,
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
  examples: [
    { title: "A button by its ref", input: { target: "e12" }, fails: "NOT_FOUND" },
    { title: "By role and name", input: { target: 'role=button[name="Buy"]' }, fails: "NOT_FOUND" },
  ],
  async screen({ target, button, count, modifiers = [] }, screen, signal) {
    const point = screenPoint(target);
    await screen.click(point, { button, count, modifiers }, signal);
    return `clicked ${point.x},${point.y}`;
  },
  async page({ target, button, count, modifiers = [], checked }, { page, locator, waits }) {
    const point = toPoint(target);
    if (checked !== undefined && !point) return locator.setChecked(checked, waits);
    if (!point) return locator.click({ ...waits, button, clickCount: count, modifiers });
    checkInView(page, point);
    for (const key of modifiers) await page.keyboard.down(key);
    await page.mouse.click(point.x, point.y, { button, clickCount: count }).finally(async () => {
      for (const key of modifiers) await page.keyboard.up(key);
    });
  },
});

export const hover = acting({
  summary: "Move the pointer over an element or a point.",
  openWorld: true,
  input: z.strictObject({ target: Target, profile: Profile }),
  examples: [{ title: "Show a menu", input: { target: "text=Account" }, fails: "NOT_FOUND" }],
  async screen({ target }, screen, signal) {
    const point = screenPoint(target);
    await screen.move(point, signal);
    return `the pointer is at ${point.x},${point.y}`;
  },
  async page({ target }, { page, locator, waits }) {
    const point = toPoint(target);
    if (!point) return locator.hover(waits);
    checkInView(page, point);
    await page.mouse.move(point.x, point.y);
  },
});

const DRAG_STEPS = 8;

export const drag = acting({
  summary: "Drag from one element or point to another.",
  listing: "brief",
  openWorld: true,
  destructive: true,
  input: z.strictObject({ target: Target, to: Target.describe("Where to drop it"), profile: Profile }),
  examples: [{ title: "A card to another column", input: { target: "e7", to: "#done" }, fails: "NOT_FOUND" }],
  async screen({ target, to }, screen, signal) {
    await screen.drag(screenPoint(target), screenPoint(to), signal);
    return `dragged ${target} to ${to}`;
  },
  async page({ target, to }, { tab, page, locator, waits }) {
    const from = toPoint(target);
    const end = toPoint(to);
    const goal = end ? undefined : await findTarget(tab, to);
    if (!from && goal) return locator.dragTo(goal, waits);
    const start = from ?? (await centerOf(locator));
    const stop = end ?? (goal && (await centerOf(goal)));
    if (!start || !stop) throw invalid("target", "both ends of a drag have to be visible");
    for (const point of [start, stop]) checkInView(page, point);
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    await page.mouse.move(stop.x, stop.y, { steps: DRAG_STEPS });
    await page.mouse.up();
  },
});

async function centerOf(element: Acting["locator"]): Promise<Point | undefined> {
  const box = await element.boundingBox();
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : undefined;
}

export const scroll = acting({
  summary: "Scroll the page, an element or the screen; without dx and dy, the target into view.",
  openWorld: true,
  input: z.strictObject({
    target: Target.optional(),
    dx: z.int().min(-MAX_SCROLL).max(MAX_SCROLL).optional(),
    dy: z.int().min(-MAX_SCROLL).max(MAX_SCROLL).optional().describe("Pixels down; screen: wheel steps"),
    profile: Profile,
  }),
  examples: [{ title: "Further down", input: { dy: 600 }, fails: "NOT_FOUND" }],
  async screen({ target, dx = 0, dy = 0 }, screen, signal) {
    await screen.scroll(target === undefined ? undefined : screenPoint(target), { dx, dy }, signal);
    return `scrolled by ${dx},${dy}`;
  },
  async page({ target, dx = 0, dy = 0 }, { page, locator, waits }) {
    const point = toPoint(target);
    if (target !== undefined && !point) await locator.scrollIntoViewIfNeeded(waits);
    if (dx === 0 && dy === 0) return;
    if (point) checkInView(page, point);
    if (point) await page.mouse.move(point.x, point.y);
    else if (target !== undefined) await locator.hover(waits);
    await page.mouse.wheel(dx, dy);
    // The wheel only requests it; the page has moved two frames later.
    await page.evaluate(TWO_FRAMES);
  },
});
