import type { Frame, Page } from "playwright-core";
import { inTime, LateError } from "../waits.ts";
import { pageCrashed, unreadable } from "./failures.ts";
import { createPageSession } from "./page-session.ts";

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
  /** Its document has not been read yet. */
  isNew(): boolean;
  /** Queries our script in a new document; undefined when there is none. */
  askNew<T>(request: unknown, ms: number): Promise<T | undefined>;
  /** Ends a script that keeps the page from responding; true when there was one. */
  free(): Promise<boolean>;
  /** There is a page to go back or forward to. */
  hasHistory(direction: "back" | "forward"): Promise<boolean>;
  hasCrashed(): boolean;
  /** Throws when the page is no longer usable. */
  check(): void;
}

const RESPONSE_MS = 1_500;

/** `refs` is shared by the tabs of a profile: a ref of one page is never valid on another. */
export function createTab(id: string, page: Page, refs: { next: number }): Tab {
  let hasCrashed = false;
  let isNew = true;
  const session = createPageSession(page);
  const frames = new Map<number, Frame>();
  page.on("crash", () => {
    hasCrashed = true;
  });
  page.on("framenavigated", (frame) => {
    if (frame === page.mainFrame()) isNew = true;
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
    isNew: () => isNew,
    async askNew<T>(request: unknown, ms: number) {
      if (!isNew) return undefined;
      isNew = false;
      const text = await inTime(session.readNew(request), ms).catch((cause: unknown) => {
        if (cause instanceof LateError) throw unreadable(ms, cause);
        return undefined;
      });
      // Our own script has written it, out of the reach of the page's.
      return text === undefined ? undefined : (JSON.parse(text) as T);
    },
    async free() {
      const isBusy = await inTime(session.responds(), RESPONSE_MS).then(
        () => false,
        (cause: unknown) => cause instanceof LateError,
      );
      if (isBusy) await inTime(session.endScript(), RESPONSE_MS).catch(() => {});
      return isBusy;
    },
    hasHistory: (direction) => session.hasHistory(direction === "back" ? -1 : 1),
    hasCrashed: () => hasCrashed,
    check() {
      if (hasCrashed) throw pageCrashed();
    },
  };
}
