// Started by edits.test.ts: an Octant process of its own, which edits until it is killed or done.
import { readFileSync, writeSync } from "node:fs";
import { ToolError } from "@octant/core";
import { createBlobs } from "../../blobs/blobs.ts";
import { createConfinement } from "../../confinement.ts";
import { hashOf } from "../../hashes.ts";
import { openStateFolder } from "../../state.ts";
import { type Disk, realDisk } from "../disk.ts";
import { createEdits } from "../edits.ts";

const [task, stateHome, count, file = "", ...roots] = process.argv.slice(2);
const confinement = createConfinement(roots);
const warn = (message: string) => {
  throw new Error(message);
};
const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
/** Gives others time to come between the last look and the step. */
const disk: Disk = {
  ...realDisk,
  renameSync(from, to) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    realDisk.renameSync(from, to);
  },
};
const edits = createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn, disk });

if (task === "count up") await countUp(["a", "b", "c", "d", "e"], Number(count));
else await addLines(file, Number(count));

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
async function addLines(file: string, lines: number): Promise<void> {
  for (let done = 0; done < lines; ) {
    const base_hash = hashOf(readFileSync(file));
    const patch = [{ op: "replace" as const, old: "start\n", new: `start\n${process.pid} ${done}\n` }];
    try {
      await edits.apply({ uri: file, base_hash, patch });
      done++;
    } catch (cause) {
      if (!(cause instanceof ToolError && cause.code === "CONFLICT")) throw cause;
    }
  }
  await edits.close();
}
