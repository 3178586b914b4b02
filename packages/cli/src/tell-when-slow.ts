/** A person waits this long without wondering. */
const SLOW_MS = 1_000;

/** The result of the work; `tell` is called when it takes longer than that. */
export async function tellWhenSlow<T>(work: Promise<T>, tell: () => void, ms = SLOW_MS): Promise<T> {
  const timer = setTimeout(tell, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
