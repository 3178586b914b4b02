import type { Frame, Page } from "playwright-core";
import { pageCrashed } from "./failures.ts";

/** One page of a profile. */
export interface Tab {
  readonly id: string;
  readonly page: Page;
  /** What refs were given for, as `button "Go"`. */
  readonly labels: Map<string, string>;
  /** Frames that have refs, by the number in their refs. */
  readonly frames: Map<number, Frame>;
  /** The ref of the first element that has none yet. */
  readonly refs: { next: number };
  /** Throws when the page cannot be used any more. */
  check(): void;
}

/** `refs` is shared by the tabs of a profile: a ref of one page never means something on another. */
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
