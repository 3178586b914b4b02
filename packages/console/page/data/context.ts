import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { OctantProcess } from "../../src/api.ts";
import type { Keys } from "../shell/keys.ts";
import type { Router } from "../shell/router.ts";
import { chooseProcess } from "./roster.ts";
import type { Store } from "./store.ts";

export interface Page {
  readonly store: Store;
  readonly router: Router;
  readonly keys: Keys;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("outside of the page");
  return page;
}

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  reload(): void;
}

/** Reads data, again when `key` changes or events were lost; the old data stays until the new is there. */
export function useLoad<T>(key: string | undefined, read: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const { store } = usePage();
  const [state, setState] = useState<{ key?: string; data?: T; error?: unknown; loading: boolean }>({
    loading: true,
  });
  const [asked, setAsked] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const generation = store.generation.value;
  useEffect(() => {
    if (key === undefined) return;
    const ended = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest
      .current(ended.signal)
      .then((data) => !ended.signal.aborted && setState({ key, data, loading: false }))
      .catch((error: unknown) => !ended.signal.aborted && setState({ key, error, loading: false }));
    return () => ended.abort();
  }, [key, asked, generation]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    loading: state.loading || !isCurrent,
    reload: () => setAsked((count) => count + 1),
  };
}

/** The process that the current view shows. */
export function useProcess(): OctantProcess | undefined {
  const { store, router } = usePage();
  return chooseProcess(
    store.processes.value ?? [],
    router.route.value.query["process"],
    store.me.value?.process,
  );
}
