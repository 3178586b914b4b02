import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { findCanaries } from "../packages/runtime/testing/redact/canaries.ts";

/** Gives the tests and their processes a private home, so that the person's stays unchanged. */
export function setup(): () => void {
  const toolchains = join(homedir(), ".rustup");
  if (process.env["RUSTUP_HOME"] === undefined && existsSync(toolchains))
    process.env["RUSTUP_HOME"] = toolchains;
  const home = mkdtempSync(join(tmpdir(), "octant-home-"));
  process.env["HOME"] = home;
  for (const name of ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"])
    delete process.env[name];
  // Every server started by a test has these in its environment; none may be written anywhere.
  const canary = `canary-${randomUUID()}`;
  process.env["OCTANT_CANARY_TOKEN"] = canary;
  process.env["GITHUB_TOKEN"] = canary;
  return () => {
    const found = findCanaries([home], [canary]);
    rmSync(home, { recursive: true, force: true });
    if (found.length > 0) throw new Error(`a secret of the environment was kept: ${JSON.stringify(found)}`);
  };
}
