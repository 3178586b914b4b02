import { type Jobs, type Registry, ToolError } from "@octant/core";
import { type FileListSources, followFileList } from "./mcp-file-list.ts";

/** Where changes of the list of resources come from: manual pages, jobs and files. */
export interface ListSources extends FileListSources {
  readonly registry: Pick<Registry, "onChange">;
  readonly jobs: Pick<Jobs, "events" | "get">;
}

/** Calls back, and not too often, when the list is another one for this caller; returns what ends it. */
export type FollowList = (owner: string, listener: () => void) => () => void;

/** Who asks for the list again each time has enough to do. */
const PAUSE_MS = 1_000;

/** No file is watched while nobody follows. */
export function createFollowList(sources: ListSources): FollowList {
  const { registry, jobs } = sources;
  const followers = new Set<() => void>();
  let stopFiles: (() => void) | undefined;
  const tellAll = () => {
    for (const tell of followers) tell();
  };
  return (owner, listener) => {
    const { tell, stop } = pace(listener);
    followers.add(tell);
    stopFiles ??= followFileList(sources, tellAll);
    const stops = [
      stop,
      registry.onChange(tell),
      jobs.events.subscribe(({ type, job_id }) => type === "start" && isOf(jobs, owner, job_id) && tell()),
    ];
    return () => {
      for (const one of stops) one();
      followers.delete(tell);
      if (followers.size > 0) return;
      stopFiles?.();
      stopFiles = undefined;
    };
  };
}

function pace(listener: () => void) {
  let toldAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        toldAt = performance.now();
        listener();
      },
      Math.max(0, toldAt + PAUSE_MS - performance.now()),
    ).unref();
  };
  return { tell, stop: () => clearTimeout(timer) };
}

function isOf(jobs: ListSources["jobs"], owner: string, job_id: string): boolean {
  try {
    return jobs.get(owner, job_id) !== undefined;
  } catch (cause) {
    if (cause instanceof ToolError) return false;
    throw cause;
  }
}
