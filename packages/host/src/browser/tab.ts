import type { Frame, Page } from "playwright-core";
import { pageCrashed } from "./failures.ts";
import { createNewDocumentReader } from "./new-document.ts";

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
  /** Queries our script in a new document; undefined when that fails. */
  askNew<T>(request: unknown): Promise<T | undefined>;
  /** Throws when the page is no longer usable. */
  check(): void;
}

/** `refs` is shared by the tabs of a profile: a ref of one page is never valid on another. */
export function createTab(id: string, page: Page, refs: { next: number }): Tab {
  let hasCrashed = false;
  let isNew = true;
  const readNew = createNewDocumentReader(page);
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
    async askNew<T>(request: unknown) {
      if (!isNew) return undefined;
      isNew = false;
      const text = await readNew(request).catch(() => undefined);
      // Our own script has written it, out of the reach of the page's.
      return text === undefined ? undefined : (JSON.parse(text) as T);
    },
    check() {
      if (hasCrashed) throw pageCrashed();
    },
  };
}
