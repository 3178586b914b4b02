/** Reports new output of watched processes: the first at once, then debounced. */
export interface OutputDebounce {
  watch(proc_id: string, on: boolean): void;
  report(proc_id: string): void;
}

export function createOutputDebounce(everyMs: number, send: (proc_id: string) => void): OutputDebounce {
  /** By process: whether there was output since the last report, while its pause lasts. */
  const watched = new Map<string, { pausing: boolean; waiting: boolean }>();

  const report = (proc_id: string) => {
    const state = watched.get(proc_id);
    if (!state) return;
    if (state.pausing) {
      state.waiting = true;
      return;
    }
    send(proc_id);
    state.pausing = true;
    setTimeout(() => {
      const { waiting } = state;
      Object.assign(state, { pausing: false, waiting: false });
      if (waiting) report(proc_id);
    }, everyMs);
  };

  return {
    watch(proc_id, on) {
      if (!on) {
        watched.delete(proc_id);
        return;
      }
      if (!watched.has(proc_id)) watched.set(proc_id, { pausing: false, waiting: false });
      // Output may have come after the watcher last looked and before we knew of it.
      report(proc_id);
    },
    report,
  };
}
