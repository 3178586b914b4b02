/** A person does not wonder about a shorter wait. */
const SLOW_MS = 1_000;

/** Returns the result of the work; `tell` is called when it takes longer than `ms`. */
export async function tellWhenSlow<T>(work: Promise<T>, tell: () => void, ms = SLOW_MS): Promise<T> {
  const timer = setTimeout(tell, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
