export interface Reader extends Disposable {
  read(): void;
}

/**
 * Reads again with every call of `read`. A read in progress goes on until a newer one has answered: a slow answer would
 * never arrive if each change began anew, and one that never comes must not stop the others. At most two are in progress.
 */
export function createReader<T>(
  load: (signal: AbortSignal) => Promise<T>,
  onData: (data: T) => void,
  onError: (error: unknown) => void,
): Reader {
  let older: AbortController | undefined;
  let newer: AbortController | undefined;
  const read = async (): Promise<void> => {
    newer?.abort();
    const own = new AbortController();
    if (older) newer = own;
    else older = own;
    const [outcome] = await Promise.allSettled([load(own.signal)]);
    if (own.signal.aborted) return;
    if (own === newer) older?.abort();
    const isLast = own === newer || newer === undefined;
    older = isLast ? undefined : newer;
    newer = undefined;
    if (outcome.status === "fulfilled") onData(outcome.value);
    else if (isLast) onError(outcome.reason);
  };
  return {
    read: () => void read(),
    [Symbol.dispose]() {
      older?.abort();
      newer?.abort();
    },
  };
}
