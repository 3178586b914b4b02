// Installs the locked packages when they are not there yet. Plain JavaScript: it runs before Node 24 is here.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const LOCK = "package-lock.json";
const INSTALLED = "node_modules/.package-lock.json";

const current = existsSync(INSTALLED) && statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs;
if (!current) {
  console.error("Installing the locked packages (once) …");
  // No package needs an install script: all natives ship their binaries inside the package.
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    console.error("npm ci failed; see above. A registry must be reachable for the first run.");
    process.exit(1);
  }
}
