const PAUSE_MS = 2_000;

/** Runs one save at a time, with a pause between two; changes during a save cause another one. */
export function createSaver(save: () => Promise<void>, onFailure: (cause: unknown) => void) {
  let saving: Promise<void> | undefined;
  let isDue = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const run = (): Promise<void> => {
    isDue = false;
    saving = save()
      .catch(onFailure)
      .finally(() => {
        saving = undefined;
        savedAt = performance.now();
        if (isDue) soon();
      });
    return saving;
  };
  const soon = () => {
    isDue = true;
    if (saving || timer) return;
    const wait = Math.max(0, savedAt + PAUSE_MS - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      if (isDue && !saving) void run();
    }, wait).unref();
  };
  return {
    soon,
    /** Rejects when it fails. */
    async now(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await saving;
      await save();
    },
  };
}
