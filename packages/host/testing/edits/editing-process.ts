// Started by edits.test.ts: an Octant process of its own, which edits until it is killed or done.
import { readFileSync, writeSync } from "node:fs";
import { ToolError } from "@octant/core";
import { createBlobs } from "../../src/blobs/blobs.ts";
import { createConfinement } from "../../src/confinement.ts";
import { type Disk, realDisk } from "../../src/edits/disk.ts";
import { createEdits } from "../../src/edits/edits.ts";
import { hashOf } from "../../src/hashes.ts";
import { openStateFolder } from "../../src/state.ts";

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

const NO_NEWLINE = "\\ No newline at end of file\n";
/** Half the time `either` is a link, and a file the other half. */
const isLink = (n: number) => n % 2 === 1;

if (task === "count up") await countUp(["a", "b", "c", "d", "e"], Number(count));
else await addLines(file, Number(count));

/** Sets all the files and links to the next number, again and again, and says each number that is done. */
async function countUp(names: readonly string[], from: number): Promise<never> {
  for (let n = from; ; n++) {
    const patch = names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${n}\n+${n + 1}\n`);
    const base_hash = hashOf(Buffer.from(`${n}\n`));
    const files = [...names, ...(isLink(n) ? [] : ["either"])].map((uri) => ({ uri, base_hash }));
    await edits.apply({ patch: [...patch, leadTo(n + 1), change(n)].join(""), files });
    writeSync(1, `${n + 1}\n`);
  }
}

function leadTo(n: number): string {
  const lines = `-${n - 1}\n${NO_NEWLINE}+${n}\n${NO_NEWLINE}`;
  return `diff --git a/link b/link\nindex 1..2 120000\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n${lines}`;
}

function change(n: number): string {
  const mode = (at: number) => (isLink(at) ? "120000" : "100644");
  const line = (at: number) => `${at}\n${isLink(at) ? NO_NEWLINE : ""}`;
  return [
    `diff --git a/either b/either\ndeleted file mode ${mode(n)}\n--- a/either\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line(n)}`,
    `diff --git a/either b/either\nnew file mode ${mode(n + 1)}\n--- /dev/null\n+++ b/either\n@@ -0,0 +1 @@\n+${line(n + 1)}`,
  ].join("");
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
