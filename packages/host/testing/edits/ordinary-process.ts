// Started by ownership.test.ts as root: loads its modules, drops root privileges, and runs the edits it is sent.
import { createInterface } from "node:readline";
import { createBlobs } from "../../src/blobs/blobs.ts";
import { createConfinement } from "../../src/confinement.ts";
import { realDisk } from "../../src/edits/disk.ts";
import { createEdits, type Edits } from "../../src/edits/edits.ts";
import { hashOf } from "../../src/hashes.ts";
import { openStateFolder } from "../../src/state.ts";

const [uid, gid, dies] = process.argv.slice(2);
process.setgroups?.([]);
process.setgid?.(Number(gid));
process.setuid?.(Number(uid));

const disk = { ...realDisk };
// As if killed while a file is overwritten.
if (dies === "dies") disk.ftruncateSync = () => process.exit(9);

const base_hash = hashOf(Buffer.from("one\n"));
const patchOf = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-one\n+two\n`;
const MODE = "diff --git a/file b/file\nold mode 100644\nnew mode 100755\n--- a/file\n+++ b/file\n";

const EDITS: Record<string, (edits: Edits) => Promise<{ note?: string }>> = {
  change: (edits) => edits.apply({ base_hash, patch: patchOf("file") }),
  "change and undo": async (edits) => {
    const { undo } = await edits.apply({ base_hash, patch: patchOf("file") });
    return edits.apply({ patch: undo! });
  },
  "change two": (edits) =>
    edits.apply({
      files: ["own", "file"].map((uri) => ({ uri, base_hash })),
      patch: patchOf("own") + patchOf("file"),
    }),
  chmod: (edits) => edits.apply({ base_hash, patch: `${MODE}@@ -1 +1 @@\n-one\n+two\n` }),
  remove: (edits) => edits.remove("file", { confirm: true, recursive: false }),
  "change another": (edits) => edits.apply({ base_hash, patch: patchOf("another") }),
  nothing: async () => ({}),
};

for await (const line of createInterface(process.stdin)) {
  const [root = "", stateHome, ...names] = line.split("\t");
  console.log(JSON.stringify(await edit(root, stateHome, names)));
}

async function edit(root: string, stateHome: string | undefined, names: readonly string[]) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const confinement = createConfinement([root]);
  const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
  const blobs = createBlobs(state.folder("blobs"));
  const edits = createEdits({ confinement, blobs, state, warn, disk });
  const outcomes: string[] = [];
  for (const name of names) {
    const outcome = await EDITS[name]!(edits).then(
      ({ note }) => note ?? "done",
      ({ code, message }) => `${code}: ${message}`,
    );
    outcomes.push(outcome);
  }
  const givenUp = edits.givenUp();
  await edits.close();
  blobs.close();
  return { outcomes, warnings, givenUp };
}
