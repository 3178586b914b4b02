import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { OctantProcess } from "../../src/api.ts";
import type { Keys } from "../shell/keys.ts";
import type { Router } from "../shell/router.ts";
import { Failed } from "./api.ts";
import { createReader, type Reader } from "./reader.ts";
import { chooseProcess, hasTool, isCallable } from "./roster.ts";
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
  /** The error of the last read; the data of an earlier one stays. */
  readonly error: unknown;
  reload(): void;
}

/**
 * Reads data, again when `version` changes or events were lost; meanwhile the data stays as it is. Another `key` is other
 * data: what was read before is not shown for it.
 */
export function useLoad<T>(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<T>,
  version = "",
): Loaded<T> {
  const { store } = usePage();
  const [state, setState] = useState<{ key?: string; data?: T | undefined; error?: unknown }>({});
  const [asked, setAsked] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const generation = store.generation.value;
  const reader = useRef<Reader | undefined>(undefined);
  useEffect(() => {
    if (key === undefined) return;
    const current = createReader(
      (signal) => latest.current(signal),
      (data) => setState({ key, data }),
      (error) => setState((before) => ({ key, error, data: before.key === key ? before.data : undefined })),
    );
    reader.current = current;
    return () => {
      reader.current = undefined;
      current[Symbol.dispose]();
    };
  }, [key]);
  useEffect(() => reader.current?.read(), [key, version, asked, generation]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => setAsked((count) => count + 1),
  };
}

/** The processes that a view can show: those with its tool. */
export function useProcesses(tool?: string): readonly OctantProcess[] {
  const { store } = usePage();
  return (store.processes.value ?? []).filter(
    (process) => isCallable(process) && (tool === undefined || hasTool(process, tool)),
  );
}

/** The process that the current view shows. */
export function useProcess(tool?: string): OctantProcess | undefined {
  const { store, router } = usePage();
  const processes = useProcesses(tool);
  const shown = useRef<string | undefined>(undefined);
  const chosen = chooseProcess(
    processes,
    // One that is busy for a while stays in view.
    router.route.value.query["process"] ?? shown.current,
    store.me.value?.process,
  );
  shown.current = chosen?.id;
  return chosen;
}

/** The answers of all processes; one that ended meanwhile has none. */
export async function ofEach<T>(
  processes: readonly OctantProcess[],
  read: (process: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const lists = await Promise.all(
    processes.map(({ id }) =>
      read(id).catch((cause: unknown) => {
        if (cause instanceof Failed && GONE.has(cause.code)) return [];
        throw cause;
      }),
    ),
  );
  return lists.flat();
}

const GONE: ReadonlySet<string> = new Set(["NOT_FOUND", "INTERRUPTED"]);
