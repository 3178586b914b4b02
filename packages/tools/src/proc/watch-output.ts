import type { Processes } from "@octant/host";

export interface Watched {
  readonly processes: Processes;
  readonly owner: string;
  readonly proc_id: string;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Checks now and after every new output, until the condition holds, the process ends or the time is up. */
export async function watchOutput(
  { processes, owner, proc_id, ms, signal }: Watched,
  isEnough: () => boolean,
): Promise<boolean> {
  const enough = new AbortController();
  const look = () => {
    if (!enough.signal.aborted && isEnough()) enough.abort();
  };
  const stop = processes.onOutput(proc_id, look);
  try {
    look();
    await processes
      .exited(owner, proc_id, ms, AbortSignal.any([signal, enough.signal]))
      .catch((cause: unknown) => {
        if (!enough.signal.aborted) throw cause;
      });
    look();
    return enough.signal.aborted;
  } finally {
    stop();
  }
}
