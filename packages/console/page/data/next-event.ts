import type { ConsoleEvent } from "../../src/api.ts";
import type { Store } from "./store.ts";

/** Events come in bursts; events within this time count as one. */
const QUIET_MS = 100;
/** In case an event was lost. */
const PATIENCE_MS = 5_000;

type Topic = ConsoleEvent["topic"];

/** Resolves soon after the next event that matches, or after a while without one. */
export function nextEvent<T extends Topic>(
  store: Pick<Store, "on">,
  topic: T,
  matches: (event: Extract<ConsoleEvent, { topic: T }>) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stop();
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, PATIENCE_MS);
    const stop = store.on(topic, (event) => {
      if (matches(event)) setTimeout(done, QUIET_MS);
    });
    signal.addEventListener("abort", done, { once: true });
  });
}
