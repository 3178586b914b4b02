import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Gives the tests, and what they start, a home of their own, so that the person's stays as it is. */
export function setup(): () => void {
  const toolchains = join(homedir(), ".rustup");
  if (process.env["RUSTUP_HOME"] === undefined && existsSync(toolchains))
    process.env["RUSTUP_HOME"] = toolchains;
  const home = mkdtempSync(join(tmpdir(), "octant-home-"));
  process.env["HOME"] = home;
  for (const name of ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"])
    delete process.env[name];
  return () => rmSync(home, { recursive: true, force: true });
}
