import { createTopic, type Jobs, type Registry } from "@octant/core";
import { type FileListSources, followFileList } from "./mcp-file-list.ts";

/** The sources of changes to the resource list: manual pages, jobs and files. */
export interface ListSources extends FileListSources {
  readonly registry: Pick<Registry, "changes">;
  readonly jobs: Pick<Jobs, "events">;
}

/**
 * Calls back, at most once a second, when the list of this caller changes; returns a function that
 * unsubscribes.
 */
export type FollowList = (owner: string, listener: () => void) => () => void;

const PAUSE_MS = 1_000;

/** Files are watched only while there are subscribers. */
export function createFollowList(sources: ListSources): FollowList {
  const { registry, jobs } = sources;
  const fileChanges = createTopic<void>({ maxEvents: 0 });
  let stopFiles: (() => void) | undefined;
  return (owner, listener) => {
    const { notify, stop } = debounce(listener);
    const stops = [
      stop,
      fileChanges.listen(notify),
      registry.changes.listen(notify),
      jobs.events.listen(({ value }) => value.type === "start" && value.owner === owner && notify()),
    ];
    stopFiles ??= followFileList(sources, () => fileChanges.publish());
    return () => {
      for (const one of stops) one();
      if (fileChanges.listenerCount > 0) return;
      stopFiles?.();
      stopFiles = undefined;
    };
  };
}

function debounce(listener: () => void) {
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const notify = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        notifiedAt = performance.now();
        listener();
      },
      Math.max(0, notifiedAt + PAUSE_MS - performance.now()),
    ).unref();
  };
  return { notify, stop: () => clearTimeout(timer) };
}
