import { ToolError } from "@octant/core";
import type { Service } from "../service.ts";

export interface SubscriptionsOptions {
  readonly service: Service;
  readonly quota: Quota;
  report(uri: string): void;
  /** While false, changes are recorded, each resource once. */
  canReport(): boolean;
}

/** The remaining allowance of a connection. */
export interface Quota {
  /** Resource subscriptions. */
  subscriptions: number;
  /** Open `subscriptions/listen` requests. */
  listens: number;
}

export const MAX_SUBSCRIPTIONS = 1_000;
const MAX_LISTENS = 1_024;
export const createQuota = (): Quota => ({ subscriptions: MAX_SUBSCRIPTIONS, listens: MAX_LISTENS });

/** Changes are debounced: more frequent ones are reported together. */
const DEBOUNCE_MS = 100;
/** How often a slow client is checked again. */
const RECHECK_MS = 250;

/** The resources whose changes are reported to one client. */
export function createSubscriptions(options: SubscriptionsOptions) {
  const { service, quota, report, canReport } = options;
  const { caller, resources } = service;
  const held = new Map<string, Promise<(() => void) | undefined>>();
  const changed = new Set<string>();
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;

  const reportLater = (ms: number) => {
    timer ??= setTimeout(reportChanged, ms).unref();
  };
  const reportChanged = () => {
    timer = undefined;
    reportedAt = performance.now();
    for (const uri of changed) {
      if (!canReport()) return reportLater(RECHECK_MS);
      changed.delete(uri);
      report(uri);
    }
  };
  const onChange = (uri: string) => {
    if (!held.has(uri)) return;
    changed.add(uri);
    reportLater(Math.max(0, reportedAt + DEBOUNCE_MS - performance.now()));
  };
  const remove = (uri: string) => {
    const stopping = held.get(uri);
    if (!stopping) return;
    held.delete(uri);
    changed.delete(uri);
    quota.subscriptions++;
    stopping.then(
      (stop) => stop?.(),
      // The subscriber already received this error.
      () => {},
    );
  };

  return {
    /**
     * Resolves once changes are reported; false when there is no such resource. Rejects with a ToolError for a resource
     * that the caller may not read, and beyond the limit.
     */
    async add(uri: string): Promise<boolean> {
      const { signal } = controller;
      signal.throwIfAborted();
      const known = held.get(uri);
      if (known) return (await known) !== undefined;
      if (quota.subscriptions === 0) throw tooMany();
      quota.subscriptions--;
      const adding = resources?.subscribe?.(uri, () => onChange(uri), { caller, signal });
      const added = adding ?? Promise.resolve(undefined);
      held.set(uri, added);
      const stop = await added.catch((cause: unknown) => {
        if (held.get(uri) === added) remove(uri);
        throw cause;
      });
      if (stop === undefined && held.get(uri) === added) remove(uri);
      return stop !== undefined;
    },
    remove,
    /** Stops all reports. */
    close(): void {
      controller.abort("the connection closed");
      clearTimeout(timer);
      for (const uri of [...held.keys()]) remove(uri);
    },
  };
}

export function tooMany(actual = MAX_SUBSCRIPTIONS + 1): ToolError {
  const limit = MAX_SUBSCRIPTIONS;
  const message = `a connection may subscribe to ${limit} resources; unsubscribe from some, or open another`;
  return new ToolError("LIMIT_EXCEEDED", message, { limit, actual });
}
