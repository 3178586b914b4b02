import { basename } from "node:path/posix";
import { type ChangeListener, type Confinement, type Files, isWithin, type Watcher } from "@octant/host";

export interface FileListSources {
  readonly files: Pick<Files, "list">;
  readonly confinement: Pick<Confinement, "start" | "toPath">;
  readonly watcher: Pick<Watcher, "onChange" | "ready">;
  /** Watchers report changes late: an early report may be older than the listing. */
  readonly settleMs?: number;
}

/**
 * Beyond this number individual files are not tracked, so a plain write may be reported as a change of the
 * list.
 */
const MAX_KNOWN = 20_000;
/** Checking more of them one by one takes longer than listing again. */
const MAX_LOOKED_AT = 16;
const MAX_DEPTH = 1_000;
const SETTLE_MS = 1_000;
const IGNORE_FILES: ReadonlySet<string> = new Set([".gitignore", ".ignore", ".rgignore"]);

/** Reports files that appear or disappear, but not plain writes. */
export function followFileList(sources: FileListSources, onChange: () => void): () => void {
  const { files, confinement, watcher, settleMs = SETTLE_MS } = sources;
  const root = confinement.start;
  const controller = new AbortController();
  const { signal } = controller;
  let known = new Set<string>();
  let isStale = false;
  let settledAt = Number.POSITIVE_INFINITY;

  const list = async (limit: number, pattern?: string) => {
    const { entries } = await files.list(root, {
      ...{ depth: MAX_DEPTH, kind: "file", includeIgnored: false, limit, pattern, signal },
      maxBytes: Number.POSITIVE_INFINITY,
    });
    return entries.map(({ uri }) => confinement.toPath(uri));
  };
  const load = async () => {
    await watcher.ready();
    known = new Set(await list(MAX_KNOWN));
    isStale = false;
    settledAt = performance.now() + settleMs;
  };
  const isListed = async (path: string) =>
    (await list(1, path.slice(root.length).replaceAll(/[\\*?[\]{}!# ]/g, "\\$&"))).length > 0;

  const changesList = async (path: string): Promise<boolean> => {
    if (IGNORE_FILES.has(basename(path))) return true;
    if (await isListed(path)) {
      const isNew = !known.has(path);
      known.add(path);
      return isNew;
    }
    // Removing a folder removes its contents.
    const gone = [...known].filter((one) => isWithin(path, one));
    for (const one of gone) known.delete(one);
    return gone.length > 0;
  };
  const look = async (paths: Parameters<ChangeListener>[0], isEarly: boolean) => {
    const inside = paths?.filter((path) => isWithin(root, path));
    if (inside?.length === 0) return;
    if (inside === undefined || inside.length > MAX_LOOKED_AT) {
      isStale = true;
      return onChange();
    }
    if (isStale && !isEarly) await load();
    let isChanged = isStale || isEarly || performance.now() < settledAt;
    for (const path of inside) isChanged = (await changesList(path)) || isChanged;
    if (isChanged) onChange();
  };
  // Serialises the work.
  let work = Promise.resolve();
  const afterwards = (next: () => Promise<void>) => {
    work = work.then(next).catch(() => {
      // The client learns the reason when it asks for the list.
      if (!signal.aborted) onChange();
    });
  };
  const stop = watcher.onChange((paths) => {
    const isEarly = performance.now() < settledAt;
    afterwards(() => look(paths, isEarly));
  });
  afterwards(load);
  return () => {
    stop();
    controller.abort("nobody follows");
  };
}
