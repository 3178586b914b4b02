import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dispatch, Tool } from "@octant/core";
import { LOCAL_CALLER } from "../src/edges.ts";
import { openRemoteHost } from "../src/host/remote-host.ts";
import { createOctant, type Octant } from "../src/octant.ts";

/** An empty project and the environment of a person with an empty home. */
export function createFolder() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-host-")));
  const root = join(base, "project");
  for (const folder of ["project", "home", "sockets"]) mkdirSync(join(base, folder), { mode: 0o700 });
  const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const open = (tool: Tool, permissions: "enforce" | "host") =>
    createOctant({ roots: [root], env, permissions, customTools: [tool], checkpointsByDefault: true });
  return { base, root, env, open, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** What a wire serves of an Octant. */
export const serving = (octant: Octant) => ({
  ...octant,
  dispatch: octant.wireDispatch,
  jobs: octant.workspace.jobs,
  caller: LOCAL_CALLER,
  name: "octant",
  version: "1",
  log: () => {},
});

export const openHost = (dispatch: Dispatch) => openRemoteHost({ dispatch, onRestart() {} });
