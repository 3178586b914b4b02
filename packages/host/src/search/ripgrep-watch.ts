import { readFileSync } from "node:fs";
import { ToolError } from "@octant/core";
import { isOpeningPipe } from "../opening-pipe.ts";

/** Far above a normal search, far below what exhausts a machine. */
export const MAX_RIPGREP_BYTES = 512 * 1024 * 1024;

const MEMORY_MS = 100;
const STALL_MS = 1_000;
const BYTES_PER_KILOBYTE = 1024;

/**
 * ripgrep holds whole ignore files, whole lines and all matches of a line, so a repository can make it take any amount
 * of memory. It also opens whatever is called .gitignore, .ignore or .rgignore, and would wait forever if it is a pipe.
 * Calls back when it does either; where the system does not show it, only the search's own time limit applies.
 */
export function watchRipgrep(pid: number | undefined, stop: (error: ToolError) => void): Disposable {
  if (pid === undefined) return { [Symbol.dispose]: () => {} };
  const timers = [
    setInterval(() => residentBytes(pid) > MAX_RIPGREP_BYTES && stop(tooMuchMemory()), MEMORY_MS),
    setInterval(() => isOpeningPipe(pid) && stop(stalled()), STALL_MS),
  ];
  return { [Symbol.dispose]: () => timers.forEach(clearInterval) };
}

/** From `status` rather than `statm`, which counts pages of a size that Node does not expose. */
function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return Number(kilobytes ?? 0) * BYTES_PER_KILOBYTE;
  } catch {
    return 0;
  }
}

const tooMuchMemory = () =>
  new ToolError(
    "LIMIT_EXCEEDED",
    "the search takes too much memory, for a huge line, file or ignore file; narrow it with path or glob, or search for something rarer",
    { limit: MAX_RIPGREP_BYTES, what: "bytes of memory" },
  );

const stalled = () =>
  new ToolError(
    "TIMEOUT",
    "the search waits for a pipe; remove the .gitignore, .ignore or .rgignore that is not a file, or search another path",
    { after_ms: STALL_MS },
  );
