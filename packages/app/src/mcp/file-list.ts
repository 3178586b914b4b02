import { setTimeout as delay } from "node:timers/promises";
import { type Confinement, type Files, isWithin, type Watcher } from "@octant/host";

export interface FileListSources {
  readonly files: Pick<Files, "list">;
  readonly confinement: Pick<Confinement, "start">;
  readonly watcher: Pick<Watcher, "onChange" | "ready">;
  /** Watchers report changes late: an early report may be older than the first listing. */
  readonly settleMs?: number;
  /** The shortest time between two listings. */
  readonly pauseMs?: number;
}

/** In a longer list a plain write may be reported as a change of the list. */
const MAX_KNOWN = 20_000;
const MAX_DEPTH = 1_000;

/** Reports files that appear or disappear, but not plain writes. */
export function followFileList(sources: FileListSources, onChange: () => void): () => void {
  const { files, confinement, watcher, settleMs = 1_000, pauseMs = 1_000 } = sources;
  const root = confinement.start;
  const controller = new AbortController();
  const { signal } = controller;
  let known: string | undefined;
  let settledAt = Number.POSITIVE_INFINITY;

  /** undefined when there are too many files to compare. */
  const list = async () => {
    const { entries, next } = await files.list(root, {
      depth: MAX_DEPTH,
      kind: "file",
      includeIgnored: false,
      limit: MAX_KNOWN,
      signal,
      maxBytes: Number.POSITIVE_INFINITY,
    });
    return next ? undefined : entries.map(({ uri }) => uri).join("\n");
  };
  const load = async () => {
    await watcher.ready();
    known = await list();
    settledAt = performance.now() + settleMs;
  };
  const look = async (isEarly: boolean) => {
    const before = known;
    known = await list();
    if (isEarly || known === undefined || known !== before) onChange();
    await delay(pauseMs, undefined, { signal, ref: false });
  };

  let work = Promise.resolve();
  const afterwards = (next: () => Promise<void>) => {
    work = work.then(next).catch(() => {
      // The client learns the reason when it asks for the list.
      if (!signal.aborted) onChange();
    });
  };
  let isWaiting = false;
  const stop = watcher.onChange((paths) => {
    if (isWaiting || paths?.every((path) => !isWithin(root, path))) return;
    isWaiting = true;
    const isEarly = performance.now() < settledAt;
    afterwards(() => {
      isWaiting = false;
      return look(isEarly);
    });
  });
  afterwards(load);
  return () => {
    stop();
    controller.abort("nobody follows");
  };
}
