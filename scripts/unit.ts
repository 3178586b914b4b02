// Runs the tests. Where root can mount a temp folder in memory for them alone, they get one: it saves the waits for a
// disk on which they write, synchronise and remove many thousand small files.
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { freemem, homedir, tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const TEMP = realpathSync(tmpdir());
/** Far more than the tests have in the temp folder at once. */
const NEEDED_BYTES = 8 * 1024 ** 3;
const MOUNT = 'mount -t tmpfs -o mode=1777 tmpfs "$0"';

const tests = [
  process.execPath,
  join(ROOT, "node_modules/vitest/vitest.mjs"),
  "run",
  ...process.argv.slice(2),
];
const [program = "", ...args] = canMount() ? inMemory(`${MOUNT} && exec "$@"`, tests) : tests;
const { status } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit" });
process.exitCode = status ?? 1;

function canMount(): boolean {
  // The mount would hide them.
  const isHidden = [ROOT, homedir(), process.execPath].some((path) => `${path}/`.startsWith(`${TEMP}/`));
  if (process.platform !== "linux" || process.getuid?.() !== 0 || isHidden || freemem() < NEEDED_BYTES)
    return false;
  const [unshare = "", ...tried] = inMemory(MOUNT, []);
  return spawnSync(unshare, tried).status === 0;
}

/** A command in a mount namespace of its own; `$0` is the temp folder. */
function inMemory(script: string, words: readonly string[]): string[] {
  return ["unshare", "--mount", "sh", "-c", script, TEMP, ...words];
}
