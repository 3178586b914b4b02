#!/usr/bin/env node
// Plain JavaScript for Node 14.18 and later: it runs before the version of Node is checked.
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) runHere();
else import("./restart.js").then(({ restart }) => restart(NEEDED_MAJOR, fileURLToPath(import.meta.url)));

function runHere() {
  endWithLauncher();
  giveHome();
  // Not the default in the shared temp folder, where another user could put code for us to run.
  const named = process.env.XDG_CACHE_HOME;
  const cache = named && isAbsolute(named) ? named : join(homedir(), ".cache");
  const compiled = join(cache, "octant", "compiled");
  if (makeFolders(compiled)) module.enableCompileCache(compiled);
  // The checkout runs its sources; a published package has none.
  const source = new URL("../src/main.ts", import.meta.url);
  const entry = existsSync(source) ? source : new URL("../dist/main.js", import.meta.url);
  import(entry.href).then(({ main }) => main(process.argv.slice(2)));
}

/**
 * An empty or relative HOME would lead into the project, and `sudo -u` may leave that of another user. A user without
 * any home gets the one that containers give.
 */
function giveHome() {
  const given = process.env.HOME || "";
  const isOthers = isAbsolute(given) && isRefused(given);
  if (!isAbsolute(given) || isOthers) delete process.env.HOME;
  try {
    if (isOthers) process.env.HOME = homedir();
    else homedir();
  } catch {
    process.env.HOME = "/";
  }
  if (isOthers)
    process.stderr.write(
      `octant: HOME is ${JSON.stringify(given)}, which this user may not read; ${process.env.HOME} is used instead\n`,
    );
}

/** Whether it is there, and this user may not look into it. */
function isRefused(folder) {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return false;
  } catch (error) {
    return error.code === "EACCES";
  }
}

/** Whether they could be made. Left to itself, Node never returns where the system takes no folder, as in /proc. */
function makeFolders(path) {
  try {
    return existsSync(path) || (makeFolders(dirname(path)) && mkdirSync(path, 0o700) === undefined);
  } catch {
    // Another process may have made it meanwhile.
    return existsSync(path);
  }
}

/** Under restart.js: a launcher that was killed cannot forward anything, but the channel to it closes. */
function endWithLauncher() {
  const launcher = process.env.OCTANT_LAUNCHER;
  delete process.env.OCTANT_LAUNCHER;
  if (launcher !== String(process.ppid) || !process.channel) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
