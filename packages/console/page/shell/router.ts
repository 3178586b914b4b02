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
  const route = signal(parseRoute(location.hash));
  addEventListener("hashchange", () => {
    route.value = parseRoute(location.hash);
  });
  const replace: Router["replace"] = (view, item, query) => {
    history.replaceState(null, "", toHash(view, item, query));
    route.value = parseRoute(location.hash);
  };
  return {
    route,
    replace,
    go(view, item, query) {
      location.hash = toHash(view, item, query);
    },
    filter(query) {
      const { view, item, query: before } = route.value;
      replace(view, item, { ...before, ...query });
    },
  };
}
