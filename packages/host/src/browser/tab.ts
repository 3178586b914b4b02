import type { Frame, Page } from "playwright-core";
import { pageCrashed } from "./failures.ts";

/** One page of a profile. */
export interface Tab {
  readonly id: string;
  readonly page: Page;
  /** The elements behind refs, as `button "Go"`. */
  readonly labels: Map<string, string>;
  /** Frames that have refs, by the number in their refs. */
  readonly frames: Map<number, Frame>;
  /** The next free ref. */
  readonly refs: { next: number };
  /** Throws when the page is no longer usable. */
  check(): void;
}

/** `refs` is shared by the tabs of a profile: a ref of one page is never valid on another. */
export function createTab(id: string, page: Page, refs: { next: number }): Tab {
  let hasCrashed = false;
  const frames = new Map<number, Frame>();
  page.on("crash", () => {
    hasCrashed = true;
  });
  page.on("framedetached", (frame) => {
    for (const [number, known] of frames) if (known === frame) frames.delete(number);
  });
  return {
    id,
    page,
    labels: new Map(),
    frames,
    refs,
    check() {
      if (hasCrashed) throw pageCrashed();
    },
  };
}
