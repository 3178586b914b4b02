/** The longest that setTimeout can wait; anything above would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Runs `work` after any time, however long, unless it is cancelled. */
export function after(ms: number, work: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number) => {
    const part = Math.min(left, LONGEST_MS);
    timer = setTimeout(() => (left > part ? arm(left - part) : work()), part);
  };
  arm(ms);
  return () => clearTimeout(timer);
}

/** Resolves when the time is up, or as soon as the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = () => {
      callOff();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const callOff = after(ms, finish);
    signal.addEventListener("abort", finish);
  });
}
