import { readFileSync } from "node:fs";
import { ToolError } from "@octant/core";

/** Far above a normal search, far below what exhausts a machine. */
export const MAX_RIPGREP_BYTES = 512 * 1024 * 1024;

const LOOK_MS = 100;
const BYTES_PER_KILOBYTE = 1024;

/**
 * ripgrep holds whole ignore files, whole lines and all matches of a line, so a repository can make it take any amount
 * of memory. Calls back when it takes too much; does nothing where the system does not show it.
 */
export function watchMemory(pid: number | undefined, onExcess: (error: ToolError) => void): Disposable {
  const look = setInterval(() => {
    if (pid !== undefined && residentBytes(pid) > MAX_RIPGREP_BYTES) onExcess(tooMuchMemory());
  }, LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(look) };
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
