import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isatty } from "node:tty";

const EXIT_CANNOT_START = 3;
const FORWARDED_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"];

/** Runs the launcher again, under the Node that came with the install, and exits the way it exits. */
export function restart(neededMajor, launcher) {
  const node = findNode(neededMajor, dirname(launcher));
  if (!node) {
    return giveUp(
      `Node ${neededMajor} or later is needed and this is ${process.version}; install it from https://nodejs.org, or install octant again with its optional packages, which bring it along`,
    );
  }
  const child = spawn(node, [...process.execArgv, launcher, ...process.argv.slice(2)], {
    // The channel is there to close when this process is gone, however it went.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, OCTANT_LAUNCHER: String(process.pid) },
  });
  for (const signal of FORWARDED_SIGNALS) {
    // A terminal sends its Ctrl-C to both of us.
    const forward = signal === "SIGINT" && isatty(0) ? () => {} : () => child.kill(signal);
    process.on(signal, forward);
  }
  child.on("error", (error) => giveUp(`${node} cannot be started (${error.message}); install octant again`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const forwarded of FORWARDED_SIGNALS) process.removeAllListeners(forwarded);
    process.kill(process.pid, signal);
  });
}

/** npm puts it into a node_modules folder at or above this file. */
function findNode(neededMajor, from) {
  const onWindows = process.platform === "win32";
  const name = `node-${onWindows ? "win" : process.platform}-${process.arch}`;
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (majorOf(candidate) >= neededMajor) return join(candidate, "bin", onWindows ? "node.exe" : "node");
    if (folder === dirname(folder)) return undefined;
  }
}

function majorOf(nodePackage) {
  try {
    return Number.parseInt(JSON.parse(readFileSync(join(nodePackage, "package.json"), "utf8")).version, 10);
  } catch {
    return 0;
  }
}

function giveUp(message) {
  console.error(`octant: ${message}`);
  process.exit(EXIT_CANNOT_START);
}
