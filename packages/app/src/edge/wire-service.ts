import { pathToUri } from "@octant/host";
import type { StreamServerOptions } from "@octant/wire/stream";
import { INSTRUCTIONS } from "../edges.ts";
import type { Octant } from "../octant-api.ts";
import type { OwnTool } from "../tools/own-tools.ts";
import { loadVersion } from "../version.ts";

type WireService = Octant<OwnTool> &
  Pick<Octant["workspace"], "jobs"> &
  Required<Pick<StreamServerOptions, "roots" | "name" | "version" | "instructions" | "log">>;

/** The parts of a workspace that every wire serves: ZeroMQ, NATS and byte streams. */
export const toWireService = (octant: Octant<OwnTool>, log: (line: string) => void): WireService => ({
  ...octant,
  dispatch: octant.wireDispatch,
  jobs: octant.workspace.jobs,
  roots: octant.workspace.confinement.roots.map(pathToUri),
  name: "octant",
  version: loadVersion(),
  instructions: INSTRUCTIONS,
  log,
});
