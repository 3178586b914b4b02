/// <reference lib="dom" />
import type { Naming } from "./naming.ts";
import type { Reading } from "./reading.ts";
import type { Refs } from "./rendering.ts";

/** Shows refs on the page, for a picture. Self-contained: it is sent to pages as source. */
export function createMarks(
  host: { current: Element | undefined },
  { roleOf }: Naming,
  { isInteractive }: Reading,
  refs: Refs,
) {
  const MAX_MARKS = 200;

  /** Draws boxes with refs over interactive elements. */
  function mark(): void {
    unmark();
    const cover = document.createElement("div");
    cover.style.cssText = "all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647";
    const shadow = cover.attachShadow({ mode: "closed" });
    let count = 0;
    for (const [ref, weak] of refs.byRef) {
      const element = weak.deref();
      if (!element?.isConnected || count >= MAX_MARKS) continue;
      if (!isInteractive(roleOf(element) || "clickable")) continue;
      const { x, y, width, height } = element.getBoundingClientRect();
      const isInView = x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
      if (width < 2 || height < 2 || !isInView || !element.checkVisibility({ visibilityProperty: true }))
        continue;
      count++;
      const box = document.createElement("div");
      box.style.cssText = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;outline:2px solid #d33`;
      const tag = document.createElement("span");
      tag.textContent = ref;
      tag.style.cssText =
        "position:absolute;left:0;top:0;background:#d33;color:#fff;font:bold 11px sans-serif;padding:0 2px";
      box.append(tag);
      shadow.append(box);
    }
    document.documentElement.append(cover);
    host.current = cover;
  }
  function unmark(): void {
    host.current?.remove();
    host.current = undefined;
  }

  return { mark, unmark };
}

export type Marks = ReturnType<typeof createMarks>;
