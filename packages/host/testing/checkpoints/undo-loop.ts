import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCheckpoints } from "./open-checkpoints.ts";

/**
 * Changes a tree, takes checkpoints and undoes, until it is killed. Arguments: the folder of the tree, the state
 * home.
 */
const [root = "", state = ""] = process.argv.slice(2);
const { checkpoints, edits } = openCheckpoints(root, state);
const NAMES = ["a", "b", "c"];
process.stdout.write("ready\n");
for (let round = 0; ; round++) {
  const turn = await checkpoints.begin(`round ${round}`);
  for (const name of NAMES) {
    const file = join(root, name);
    writeFileSync(file, `${readFileSync(file, "utf8").trim()} ${round}\n`);
  }
  const { undo } = await turn.end();
  if (undo !== null) await edits.apply({ patch: undo });
}
