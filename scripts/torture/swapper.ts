// A separate process: swaps a link between two folders until it is killed.
import { renameSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const [root, outside] = process.argv.slice(2);
writeSync(1, "ready\n");
for (let i = 0; ; i++) {
  symlinkSync(i % 2 ? "real" : outside!, join(root!, "next"));
  renameSync(join(root!, "next"), join(root!, "swap"));
}
