import {
  type Confinement,
  createBlobs,
  createConfinement,
  createEdits,
  type Edits,
  openStateFolder,
} from "@octant/host";

/** Only the edit engine, over one folder. */
export function openEdits(
  root: string,
  stateHome: string,
): { confinement: Confinement; edits: Edits; warnings: string[] } {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const confinement = createConfinement([root]);
  const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
  const blobs = createBlobs(state.folder("blobs"));
  return { confinement, edits: createEdits({ confinement, blobs, state, warn }), warnings };
}
