import { createBlobs } from "../../src/blobs/blobs.ts";
import { createCheckpoints } from "../../src/checkpoints/checkpoints.ts";
import { createConfinement } from "../../src/confinement.ts";
import { createEdits } from "../../src/edits/edits.ts";
import { openStateFolder } from "../../src/state.ts";

/** Checkpoints of a folder and the edits that undo them, without the rest of a workspace. */
export function openCheckpoints(root: string, home: string, warn: (message: string) => void = () => {}) {
  const confinement = createConfinement([root]);
  const env = { HOME: home, XDG_STATE_HOME: home };
  const state = openStateFolder({ roots: confinement.roots, env, warn: () => {} });
  const blobs = createBlobs(state.folder("blobs"));
  const edits = createEdits({ confinement, blobs, state, warn: () => {} });
  const checkpoints = createCheckpoints({ confinement, blobs, edits, state, env, warn });
  return {
    edits,
    checkpoints,
    async [Symbol.asyncDispose]() {
      await checkpoints.close();
      await edits.close();
      blobs.close();
    },
  };
}
