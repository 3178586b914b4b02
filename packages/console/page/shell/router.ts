import { type ReadonlySignal, signal } from "@preact/signals";
import { parseRoute, type Route, toHash } from "./route.ts";

/** The current place of this tab. */
export interface Router {
  readonly route: ReadonlySignal<Route>;
  go(view: string, item?: string, query?: Readonly<Record<string, string | undefined>>): void;
  /** Changes filters without a new entry in the history. */
  filter(query: Readonly<Record<string, string | undefined>>): void;
  /** Goes there without a new entry in the history. */
  replace(view: string, item?: string, query?: Readonly<Record<string, string | undefined>>): void;
}

export function createRouter(): Router {
  let hash = location.hash;
  const route = signal(parseRoute(hash));
  const follow = () => {
    if (hash === location.hash) return;
    hash = location.hash;
    route.value = parseRoute(hash);
  };
  addEventListener("hashchange", follow);
  const replace: Router["replace"] = (view, item, query) => {
    history.replaceState(null, "", toHash(view, item, query));
    follow();
  };
  return {
    route,
    replace,
    go(view, item, query) {
      location.hash = toHash(view, item, query);
      // Its event comes later: a filter that is changed before would lead back to the old place.
      follow();
    },
    filter(query) {
      const { view, item, query: before } = route.value;
      replace(view, item, { ...before, ...query });
    },
  };
}
