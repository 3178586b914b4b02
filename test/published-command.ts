import { constants, cpSync } from "node:fs";
import { join } from "node:path";

/** Where `built-command.ts` put the command before the tests; undefined outside a run of the tests. */
const BUILT = process.env["OCTANT_TEST_COMMAND"];
const IN_INSTALL = "node_modules/@octant/cli/bin/octant.js";

/** Runs the sources. */
export const SOURCE_LAUNCHER = join(import.meta.dirname, "../packages/cli/bin/octant.js");

/** What was built for the tests; elsewhere the sources. */
export const LAUNCHER = BUILT === undefined ? SOURCE_LAUNCHER : join(BUILT, IN_INSTALL);

/** Installs the command as it would be published today, and returns its launcher. */
export function installCommand(folder: string): string {
  if (BUILT === undefined) throw new Error("only test/built-command.ts builds the command");
  cpSync(BUILT, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return join(folder, IN_INSTALL);
}
