// `node scripts/install.mjs [--running]`: installs the locked packages when they are not there yet; with --running only
// those that running needs. Plain JavaScript: it runs before Node 24 is here.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";

const LOCK = "package-lock.json";
const INSTALLED = "node_modules/.package-lock.json";
/** A package that only a full install has. */
const FULL = "node_modules/vitest/package.json";

const runningOnly = process.argv.includes("--running");
const isCurrent =
  existsSync(INSTALLED) &&
  statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs &&
  (runningOnly || existsSync(FULL));
if (!isCurrent) install();

function install() {
  console.error(
    runningOnly ? "Installing what Octant needs to run (once) …" : "Installing the locked packages (once) …",
  );
  const omit = runningOnly && !existsSync(FULL) ? ["--omit=dev"] : [];
  // No package needs an install script: all natives ship their binaries inside the package.
  const npm = spawn(
    "npm",
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--no-progress", ...omit],
    {
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
    },
  );
  const stopShowing = showProgress(omit.length > 0);
  npm.on("exit", (code) => {
    stopShowing();
    if (code === 0) return void (runningOnly && removeHeaders());
    console.error("npm ci failed; see above. A registry must be reachable for the first run.");
    process.exit(1);
  });
}

/** A third of the Node that comes along are headers for compiling native addons, which nothing here does. */
function removeHeaders() {
  for (const name of readdirSync("node_modules").filter((entry) => /^node-(linux|win)-/.test(entry)))
    rmSync(`node_modules/${name}/include`, { recursive: true, force: true });
}

/** Counts the packages that are unpacked: on one line of a terminal, elsewhere now and then. */
function showProgress(withoutDev) {
  const { packages } = JSON.parse(readFileSync(LOCK, "utf8"));
  const wanted = Object.entries(packages)
    .filter(
      ([path, { dev, optional, link }]) =>
        path.startsWith("node_modules/") && !link && !optional && !(withoutDev && dev),
    )
    .map(([path]) => `${path}/package.json`);
  const isTerminal = process.stderr.isTTY;
  const started = Date.now();
  const timer = setInterval(
    () => {
      const here = wanted.filter((path) => existsSync(path)).length;
      const line = `  ${here} of ${wanted.length} packages, ${Math.round((Date.now() - started) / 1000)} s`;
      process.stderr.write(isTerminal ? `\r${line}` : `${line}\n`);
    },
    isTerminal ? 500 : 5000,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write("\r\x1b[K");
  };
}
