import { createTopic } from "@octant/core";
import { until } from "../waits.ts";

export type WorkList = ReturnType<typeof createWorkList>;

/** The work that a server has reported. */
export function createWorkList() {
  const tokens = new Set<string | number>();
  const changes = createTopic<void>({ maxEvents: 0 });
  let busySince = 0;
  return {
    count: () => tokens.size,
    /** How long the list has not been empty. */
    busyMs: () => (tokens.size > 0 ? performance.now() - busySince : 0),
    begin(token: string | number) {
      if (tokens.size === 0) busySince = performance.now();
      tokens.add(token);
      changes.publish();
    },
    end(token: string | number) {
      tokens.delete(token);
      changes.publish();
    },
    begun: (enough: AbortSignal) => until(() => tokens.size > 0, changes, enough),
    done: (enough: AbortSignal) => until(() => tokens.size === 0, changes, enough),
  };
}
