import { ToolError } from "@octant/core";
import type { Service } from "../service.ts";

/** The resources whose changes one client is told of. */
export interface Subscriptions {
  /**
   * Resolves when changes from now on are told; false when there is no such resource. Rejects with a ToolError for
   * what the caller may not read, and beyond the limit.
   */
  add(uri: string): Promise<boolean>;
  remove(uri: string): void;
  /** Nothing is told afterwards. */
  close(): void;
}

export interface SubscriptionsOptions {
  readonly service: Service;
  readonly allowance: Allowance;
  tell(uri: string): void;
  /** While it is not, changes are remembered, each resource once. */
  canTell(): boolean;
}

/** How many more resources may be subscribed to on a connection. */
export interface Allowance {
  left: number;
}

export const MAX_SUBSCRIPTIONS = 1_000;
export const createAllowance = (): Allowance => ({ left: MAX_SUBSCRIPTIONS });

/** What changes oftener is not told oftener. */
const PAUSE_MS = 100;
/** How often it is looked whether the client reads again. */
const LOOK_AGAIN_MS = 250;

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { service, allowance, tell, canTell } = options;
  const { caller, resources } = service;
  const held = new Map<string, Promise<(() => void) | undefined>>();
  const changed = new Set<string>();
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;

  const tellLater = (ms: number) => {
    timer ??= setTimeout(tellChanged, ms).unref();
  };
  const tellChanged = () => {
    timer = undefined;
    toldAt = performance.now();
    for (const uri of changed) {
      if (!canTell()) return tellLater(LOOK_AGAIN_MS);
      changed.delete(uri);
      tell(uri);
    }
  };
  const onChange = (uri: string) => {
    if (!held.has(uri)) return;
    changed.add(uri);
    tellLater(Math.max(0, toldAt + PAUSE_MS - performance.now()));
  };
  const remove = (uri: string) => {
    const stopping = held.get(uri);
    if (!stopping) return;
    held.delete(uri);
    changed.delete(uri);
    allowance.left++;
    stopping.then(
      (stop) => stop?.(),
      // Whoever added it was told.
      () => {},
    );
  };

  return {
    async add(uri) {
      const { signal } = controller;
      signal.throwIfAborted();
      const known = held.get(uri);
      if (known) return (await known) !== undefined;
      if (allowance.left === 0) throw tooMany();
      allowance.left--;
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
    close() {
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
