import { readdirSync, readFileSync } from "node:fs";
import { ToolError } from "@octant/core";

const LOOK_MS = 1_000;
/** The kernel function in which a Linux thread sleeps while it opens a pipe without a peer. */
const OPENING_A_PIPE = "wait_for_partner";

/**
 * ripgrep opens whatever is called .gitignore, .ignore or .rgignore, and would wait forever if it is a pipe. Calls
 * back when it does; where the system does not show it, the search's own time limit has to do.
 */
export function watchForStall(pid: number | undefined, onStall: (error: ToolError) => void): Disposable {
  const look = setInterval(() => {
    if (pid !== undefined && isOpeningPipe(pid)) onStall(stalled());
  }, LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(look) };
}

function isOpeningPipe(pid: number): boolean {
  try {
    const tasks = `/proc/${pid}/task`;
    return readdirSync(tasks).some(
      (thread) => readFileSync(`${tasks}/${thread}/wchan`, "latin1") === OPENING_A_PIPE,
    );
  } catch {
    return false;
  }
}

const stalled = () =>
  new ToolError(
    "TIMEOUT",
    "the search waits for a pipe; remove the .gitignore, .ignore or .rgignore that is not a file, or search another path",
    { after_ms: LOOK_MS },
  );
