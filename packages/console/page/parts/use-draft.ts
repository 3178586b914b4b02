import { useState } from "preact/hooks";

export interface Draft {
  get(): string;
  set(text: string): void;
}

/** Text that a person is typing. It survives a reload of the tab and ends with the tab. */
export function useDraft(name: string): Draft {
  const [, redraw] = useState(0);
  const draft = draftOf(name);
  return {
    get: draft.get,
    set(text) {
      draft.set(text);
      redraw((count) => count + 1);
    },
  };
}

/** The draft of a part of the page that is not shown yet. */
export function draftOf(name: string): Draft {
  const key = `octant-draft ${name}`;
  return {
    get: () => sessionStorage.getItem(key) ?? "",
    set(text) {
      if (text === "") sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, text);
    },
  };
}
