import type { Answers, Dispatch } from "@octant/core";
import { followServer } from "@octant/wire";
import { createEdgeFeatures } from "../mcp/features.ts";

export interface EdgeSource {
  readonly server: Parameters<typeof followServer>[0];
  readonly dispatch: Dispatch;
  /** Calls back when the tools of the server change. */
  readonly follow: Parameters<typeof followServer>[1];
  readonly answers: Answers | undefined;
  log(line: string): void;
}

/** The tools and features that an edge serves, of a server in another process. */
export async function openEdge({ server, dispatch, follow, answers, log }: EdgeSource) {
  const { registry, ready } = await followServer(server, follow, log);
  const { name, version, instructions, roots = [] } = ready;
  return {
    registry,
    dispatch,
    name,
    version,
    roots,
    log,
    ...createEdgeFeatures({ registry, dispatch, root: roots[0], answers }),
    ...(instructions !== undefined && { instructions }),
  };
}
