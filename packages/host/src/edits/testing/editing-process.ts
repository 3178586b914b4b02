// Started by edits.test.ts: an Octant process of its own, which edits until it is killed or done.
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createBlobs } from "../../blobs/blobs.ts";
import { createConfinement } from "../../confinement.ts";
import { hashOf } from "../../hashes.ts";
import { openStateFolder } from "../../state.ts";
import { createEdits } from "../edits.ts";

const [task, root = "", stateHome, count] = process.argv.slice(2);
const confinement = createConfinement([root]);
const warn = (message: string) => {
  throw new Error(message);
};
const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
const edits = createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });

if (task === "count up") await countUp(["a", "b", "c", "d", "e"], Number(count));
else await addLines("a", Number(count));

/** Sets all the files to the next number, again and again, and says each number that is done. */
async function countUp(names: readonly string[], from: number): Promise<never> {
  for (let n = from; ; n++) {
    const patch = names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${n}\n+${n + 1}\n`);
    const base_hash = hashOf(Buffer.from(`${n}\n`));
    await edits.apply({ patch: patch.join(""), files: names.map((uri) => ({ uri, base_hash })) });
    writeSync(1, `${n + 1}\n`);
  }
}

/** Adds lines to a file that others change too. */
async function addLines(name: string, lines: number): Promise<void> {
  for (let done = 0; done < lines; ) {
    const base_hash = hashOf(readFileSync(join(root, name)));
    const patch = [{ op: "replace" as const, old: "start\n", new: `start\n${process.pid} ${done}\n` }];
    try {
      await edits.apply({ uri: name, base_hash, patch });
      done++;
    } catch (cause) {
      if (!(cause instanceof ToolError && cause.code === "CONFLICT")) throw cause;
    }
  }
  await edits.close();
}
