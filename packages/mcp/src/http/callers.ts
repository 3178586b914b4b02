import type { Caller } from "@octant/core";
import { createResults, type Results } from "../results.ts";
import type { Service } from "../service.ts";
import { createToolRunner, type RunTool } from "../tool-runner.ts";
import type { Limits } from "./limits.ts";
import { createSdkHandler, type SdkHandler } from "./sdk-handler.ts";

/** What the requests of one caller share. */
export interface CallerEdge {
  readonly service: Service;
  readonly results: Results;
  readonly runTool: RunTool;
  readonly sdk: SdkHandler;
}

export interface Callers {
  get(caller: Caller): CallerEdge;
  close(): Promise<void>;
}

/** Callers beyond these take the place of the one who has been quiet for longest. */
const MAX_CALLERS = 1_000;

export function createCallers(service: Service, limits: Limits): Callers {
  const edges = new Map<string, CallerEdge>();

  const open = (caller: Caller): CallerEdge => {
    const own: Service = { ...service, caller };
    const runTool = createToolRunner(own, limits.maxCallsInFlight);
    return {
      service: own,
      results: createResults(own),
      runTool,
      sdk: createSdkHandler(own, runTool, limits),
    };
  };
  const forgetOne = () => {
    for (const [key, edge] of edges) {
      if (edge.sdk.isBusy) continue;
      edges.delete(key);
      void edge.sdk.close();
      return;
    }
  };
  return {
    get(caller) {
      // The scopes of a token may change while it lives.
      const key = `${caller.id} ${caller.access} ${caller.project}`;
      const known = edges.get(key);
      if (known && edges.size < MAX_CALLERS) return known;
      edges.delete(key);
      if (edges.size >= MAX_CALLERS) forgetOne();
      const edge = known ?? open(caller);
      edges.set(key, edge);
      return edge;
    },
    async close() {
      await Promise.all([...edges.values()].map(({ sdk }) => sdk.close()));
    },
  };
}
