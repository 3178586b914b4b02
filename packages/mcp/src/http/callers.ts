import type { Caller } from "@octant/core";
import { createToolRunner, type RunTool } from "../methods/tools.ts";
import type { Service } from "../service.ts";
import type { Limits } from "./limits.ts";

/** The state shared by all requests of one caller. */
export interface CallerEdge {
  readonly service: Service;
  readonly runTool: RunTool;
}

/** Beyond this number a new caller replaces the least recently active one. */
const MAX_CALLERS = 1_000;

export function createCallers(service: Service, limits: Limits): (caller: Caller) => CallerEdge {
  const edges = new Map<string, CallerEdge>();
  const open = (caller: Caller): CallerEdge => {
    const own: Service = { ...service, caller };
    return { service: own, runTool: createToolRunner(own, limits.maxCallsInFlight) };
  };
  return (caller) => {
    // The scopes of a token may change during its lifetime.
    const key = `${caller.id} ${caller.access} ${caller.project}`;
    const edge = edges.get(key) ?? open(caller);
    edges.delete(key);
    const [quietest] = edges.keys();
    if (edges.size >= MAX_CALLERS && quietest !== undefined) edges.delete(quietest);
    edges.set(key, edge);
    return edge;
  };
}
