import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createTopic } from "@octant/core";
import type { AsyncSubscription, Event } from "@parcel/watcher";
import type { Confinement } from "../confinement.ts";
import { isWithin, outermost, type Path } from "../path.ts";

/** null: unknown paths, so check everything. */
export type ChangeListener = (paths: readonly Path[] | null) => void;

export interface WatcherStatus {
  /** idle: no listeners. polling: changes are reported only by `poll`. */
  readonly kind: "idle" | "events" | "polling";
  readonly detail: string;
}

export interface WatcherOptions {
  readonly confinement: Pick<Confinement, "roots">;
  /** Folders whose changes are irrelevant, such as the state folder. */
  readonly ignore?: readonly Path[];
  /** Called once when changes cannot be watched. */
  warn?(message: string): void;
  readonly subscribe?: Subscribe;
}

export type Subscribe = typeof import("@parcel/watcher")["subscribe"];

/** Folders that programs fill; they contain no sources. */
const GENERATED_FOLDERS: readonly string[] = [
  ...[".git", ".hg", ".svn", "node_modules", "bower_components", "target", ".gradle", ".venv", "venv"],
  ...["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".cache", ".next", ".nuxt"],
  ...[".turbo", ".parcel-cache", ".terraform"],
];

/**
 * The system's queue holds 16,384 changes, and the library does not report an overflow. A batch this large may have
 * lost some, and processing it would take as long as checking everything.
 */
const MAX_BATCH = 8_192;
const MAX_NEW_FILES = 8_192;

export type Watcher = ReturnType<typeof createWatcher>;

/**
 * Reports changed files, including changes by other programs. Nothing is watched without listeners. The library
 * debounces changes for 50 ms, so listeners need not.
 */
export function createWatcher(options: WatcherOptions) {
  const { confinement, ignore = [], warn = () => {}, subscribe = lazySubscribe } = options;
  const changes = createTopic<Parameters<ChangeListener>[0]>({ maxEvents: 0 });
  const isGenerated = createFilter(confinement.roots, ignore);
  let watching: Promise<Watching> | undefined;
  let stopped: Promise<void> = Promise.resolve();
  let status = IDLE;
  let closed = false;

  const publish: ChangeListener = (paths) => {
    if (!closed && paths?.length !== 0) changes.publish(paths);
  };
  const receive = async (error: Error | null, events: readonly Event[]) => {
    // A name that is not UTF-8 arrives mangled.
    const isMangled = events.some(({ path }) => path.includes("\uFFFD"));
    const isLost = error !== null || events.length > MAX_BATCH || isMangled;
    publish(isLost ? null : await listChanged(events, isGenerated));
  };
  const open = async (): Promise<Watching> => {
    const roots = outermost(confinement.roots);
    const watched = roots.map((root) =>
      subscribe(root, receive, { ignore: [GENERATED, ...ignore.filter((path) => isWithin(root, path))] }),
    );
    const results = await Promise.allSettled(watched);
    const subscriptions = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = results.find((one) => one.status === "rejected");
    if (!failed) return { subscriptions, status: { kind: "events", detail: "the system reports changes" } };
    await Promise.all(subscriptions.map((one) => one.unsubscribe()));
    const reason = failed.reason instanceof Error ? failed.reason.message : String(failed.reason);
    const detail = `changes cannot be watched, so files are checked again: ${reason}`;
    warn(detail);
    return { subscriptions: [], status: { kind: "polling", detail } };
  };
  const start = () => {
    const opening = stopped.then(open);
    watching = opening;
    void opening.then((opened) => {
      if (watching === opening) status = opened.status;
    });
  };
  const stop = () => {
    const opened = watching;
    watching = undefined;
    status = IDLE;
    stopped = stopped.then(async () => {
      for (const one of (await opened)?.subscriptions ?? []) await one.unsubscribe();
    });
  };

  return {
    onChange(listener: ChangeListener): () => void {
      const stopListening = changes.listen(({ value }) => listener(value));
      if (!watching && !closed) start();
      return () => {
        stopListening();
        if (changes.listenerCount === 0 && watching) stop();
      };
    },
    /** Whether changes of such a file are reported at all: those in generated folders, and outside the roots, are not. */
    covers: (path: Path): boolean => !isGenerated(path),
    /** Resolves when changes made from now on are reported. */
    async ready(): Promise<void> {
      await watching;
    },
    /** Called before an answer: without system events it asks the listeners to check everything. */
    poll(): void {
      if (status.kind === "polling") publish(null);
    },
    status: (): WatcherStatus => status,
    async close(): Promise<void> {
      closed = true;
      stop();
      await stopped;
    },
  };
}

/** A subscription with the system, and whether it works. */
interface Watching {
  readonly subscriptions: readonly AsyncSubscription[];
  readonly status: WatcherStatus;
}

const IDLE: WatcherStatus = { kind: "idle", detail: "nobody listens" };

// Without a backend the library first runs `watchman` from PATH, and leaves a zombie for each subscription.
const BACKEND = process.platform === "linux" ? { backend: "inotify" as const } : {};

const lazySubscribe: Subscribe = async (root, receive, options) => {
  const { default: library } = await import("@parcel/watcher");
  return library.subscribe(root, receive, { ...options, ...BACKEND });
};

/** One expression is faster for the library than a glob per name; it takes no flags. */
const GENERATED = new RegExp(
  `(?:^|/)(?:${GENERATED_FOLDERS.map((name) => name.replaceAll(".", "\\.")).join("|")})(?:/|$)`,
);

/** The library already excludes most of it; we walk the contents of a new folder ourselves. */
const createFilter = (roots: readonly Path[], ignore: readonly Path[]) => (path: Path) => {
  const root = roots.find((one) => isWithin(one, path));
  return (
    root === undefined ||
    GENERATED.test(path.slice(root.length)) ||
    ignore.some((folder) => isWithin(folder, path))
  );
};

/** Files created in a new folder before it is watched are not reported, so new folders are walked. */
async function listChanged(
  events: readonly Event[],
  isGenerated: (path: Path) => boolean,
): Promise<readonly Path[] | null> {
  const changed = new Set<Path>();
  const waiting: Path[] = [];
  for (const { path, type } of events) {
    if (isGenerated(path)) continue;
    changed.add(path);
    if (type === "create" && lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) waiting.push(path);
  }
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const parent = folder;
    for (const entry of await readdir(parent, { withFileTypes: true }).catch(() => [])) {
      const path = `${parent}/${entry.name}`;
      if (isGenerated(path)) continue;
      if (entry.isDirectory()) waiting.push(path);
      else changed.add(path);
    }
    if (changed.size > MAX_NEW_FILES) return null;
  }
  return [...changed];
}
