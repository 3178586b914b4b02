import { constants, cpSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONTAINED, IN_INSTALL } from "./built-layout.ts";

const TEMP = realpathSync(tmpdir());
/** The sandbox hides temp folders, so an install must not link to packages there, nor use fixtures there. */
export const IN_TEMP = import.meta.dirname.startsWith(`${TEMP}/`);
const CACHE = join(import.meta.dirname, "../node_modules/.cache");

/** Where `built-command.ts` put the command before the tests; undefined outside a test run. */
const BUILT = process.env["OCTANT_TEST_COMMAND"];

/** Runs the sources. */
export const SOURCE_LAUNCHER = join(import.meta.dirname, "../packages/cli/bin/octant.js");

/** The command built for the tests; the sources outside a test run, and in a checkout below the temp folder. */
export const LAUNCHER = BUILT === undefined || IN_TEMP ? SOURCE_LAUNCHER : join(BUILT, IN_INSTALL);

/** As `LAUNCHER`, for hubs: a container sees only the folder of the install. */
export const CONTAINED_LAUNCHER =
  BUILT === undefined || IN_TEMP ? SOURCE_LAUNCHER : join(BUILT, CONTAINED, IN_INSTALL);

/** A new folder for `installCommand`. */
export function makeInstallFolder(): string {
  mkdirSync(CACHE, { recursive: true });
  return mkdtempSync(join(IN_TEMP ? CACHE : TEMP, "octant-published-"));
}

/** Installs the command as it would be published now, and returns its launcher. */
export function installCommand(folder: string): string {
  if (BUILT === undefined) throw new Error("only test/built-command.ts builds the command");
  const modules = "node_modules";
  cpSync(join(BUILT, modules), join(folder, modules), { recursive: true, mode: constants.COPYFILE_FICLONE });
  return join(folder, IN_INSTALL);
}
