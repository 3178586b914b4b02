// A separate process: goes from generation to generation until it is killed, and acknowledges each.
import { writeSync } from "node:fs";
import { patchFrom } from "./generations.ts";
import { openEdits } from "./open-edits.ts";

const [root, stateHome, first] = process.argv.slice(2);
const { edits } = openEdits(root!, stateHome!);
for (let generation = Number(first); ; generation++) {
  await edits.apply(patchFrom(generation));
  writeSync(1, `${generation + 1}\n`);
}
