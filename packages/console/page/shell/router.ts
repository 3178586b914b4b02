import { type ReadonlySignal, signal } from "@preact/signals";
import { parseRoute, type Route, toHash } from "./route.ts";

/** The current place of this tab. */
export interface Router {
  readonly route: ReadonlySignal<Route>;
  go(view: string, item?: string, query?: Readonly<Record<string, string | undefined>>): void;
  /** Changes filters without a new entry in the history. */
  filter(query: Readonly<Record<string, string | undefined>>): void;
  /** Names the item that the view shows, without a new entry in the history. */
  choose(item: string): void;
}

export function createRouter(): Router {
  const route = signal(parseRoute(location.hash));
  addEventListener("hashchange", () => {
    route.value = parseRoute(location.hash);
  });
  const replace = (hash: string) => {
    history.replaceState(null, "", hash);
    route.value = parseRoute(location.hash);
  };
  return {
    route,
    go(view, item, query) {
      location.hash = toHash(view, item, query);
    },
    filter(query) {
      const { view, item, query: before } = route.value;
      replace(toHash(view, item, { ...before, ...query }));
    },
    choose(item) {
      const { view, query } = route.value;
      replace(toHash(view, item, query));
    },
  };
}
