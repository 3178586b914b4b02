import { useEffect, useState } from "preact/hooks";
import type { SessionEvent } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";
import { HUB } from "./hub-data.ts";

/** How long the hub holds a request that has no news. */
const WAIT_MS = 20_000;
const PAGE = 1_000;

interface EventPage {
  readonly state: "working" | "idle" | "ended";
  readonly outcome?: string;
  readonly problem?: string;
  readonly events: readonly SessionEvent[];
  readonly last_index: number;
}

/** The events of a hub's session from the first on, and those that follow while it is shown. */
export function useHubSession(session_id: string) {
  const { store } = usePage();
  const [session, setSession] = useState<Omit<EventPage, "last_index">>();
  const [error, setError] = useState<unknown>();
  const generation = store.generation.value;
  useEffect(() => {
    const ended = new AbortController();
    const follow = async () => {
      let events: readonly SessionEvent[] = [];
      for (let since_index = 0, wait = 0; !ended.signal.aborted; wait = WAIT_MS) {
        const input = { session_id, since_index, max_events: PAGE, wait };
        const page = await store.api.data<EventPage>(HUB, "session.events", input, ended.signal);
        events = [...events, ...page.events];
        since_index = page.last_index;
        setSession({ ...page, events });
      }
    };
    setError(undefined);
    follow().catch((cause: unknown) => !ended.signal.aborted && setError(cause));
    return () => ended.abort();
  }, [session_id, generation]);
  return { session, error };
}
