/** The result, or undefined when the work throws: for steps whose failure means that something is missing. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
