// Started by large-patch.test.ts: applies one patch that creates a file, and prints what that cost.
import { ToolError } from "@octant/core";
import { createBlobs } from "../../src/blobs/blobs.ts";
import { createConfinement } from "../../src/confinement.ts";
import { createEdits } from "../../src/edits/edits.ts";
import { openStateFolder } from "../../src/state.ts";

const [stateHome, root = "", lines] = process.argv.slice(2);
const confinement = createConfinement([root]);
const warn = (message: string) => {
  throw new Error(message);
};
const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
const edits = createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });

const patch = `--- /dev/null\n+++ b/large.txt\n@@ -0,0 +1,${lines} @@\n${"+\n".repeat(Number(lines))}`;
// The text is made of pieces; one read from a socket is not.
const flat = Buffer.from(patch).toString();

/** The most CPU time between two turns of the event loop. */
let longest = 0;
let used = process.cpuUsage();
const turn = () => {
  const { user, system } = process.cpuUsage(used);
  longest = Math.max(longest, user + system);
  used = process.cpuUsage();
};
const sampling = setInterval(turn, 0);
const memory = process.resourceUsage().maxRSS;

const code = await edits.apply({ patch: flat }).then(
  () => "applied",
  (cause: unknown) => (cause instanceof ToolError ? cause.code : String(cause)),
);
turn();
clearInterval(sampling);
const grown = process.resourceUsage().maxRSS - memory;
process.stdout.write(JSON.stringify({ code, longest_ms: longest / 1000, grown_mb: grown / 1024 }));
await edits.close();
