/** Reports new output of watched processes: the first at once, then debounced. */
export interface News {
  watch(proc_id: string, on: boolean): void;
  tell(proc_id: string): void;
}

export function createNews(everyMs: number, send: (proc_id: string) => void): News {
  /** By process: whether there was output since the last news, while its pause lasts. */
  const watched = new Map<string, { pausing: boolean; waiting: boolean }>();

  const tell = (proc_id: string) => {
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
      if (waiting) tell(proc_id);
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
      tell(proc_id);
    },
    tell,
  };
}
