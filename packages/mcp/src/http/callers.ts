import type { Caller } from "@octant/core";
import { createToolRunner, type RunTool } from "../methods/tools.ts";
import type { Service } from "../service.ts";
import type { Limits } from "./limits.ts";

/** What the requests of one caller share. */
export interface CallerEdge {
  readonly service: Service;
  readonly runTool: RunTool;
}

export type Callers = (caller: Caller) => CallerEdge;

/** Callers beyond these take the place of the one who has been quiet for longest. */
const MAX_CALLERS = 1_000;

export function createCallers(service: Service, limits: Limits): Callers {
  const edges = new Map<string, CallerEdge>();
  const open = (caller: Caller): CallerEdge => {
    const own: Service = { ...service, caller };
    return { service: own, runTool: createToolRunner(own, limits.maxCallsInFlight) };
  };
  return (caller) => {
    // The scopes of a token may change while it lives.
    const key = `${caller.id} ${caller.access} ${caller.project}`;
    const edge = edges.get(key) ?? open(caller);
    edges.delete(key);
    const [quietest] = edges.keys();
    if (edges.size >= MAX_CALLERS && quietest !== undefined) edges.delete(quietest);
    edges.set(key, edge);
    return edge;
  };
}
