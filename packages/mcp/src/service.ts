import { randomBytes } from "node:crypto";
import {
  type Call,
  type Caller,
  type CallOptions,
  createToText,
  type Dispatch,
  type Jobs,
  type Reply,
} from "@octant/core";
import { type Answers, type ToResult, toResultFor } from "./answer.ts";
import { createStateSeal, type StateSeal } from "./asking/request-state.ts";
import { type Capabilities, type Era, toCapabilities } from "./features/capabilities.ts";
import type { Exchange } from "./features/exchange.ts";
import type { CompletionSource, Icon, PromptSource, ResourceSource } from "./features/sources.ts";
import { knowsTasks } from "./features/task-wire.ts";
import { createTasks, type Tasks } from "./features/tasks.ts";
import { createListing, type Listing, type ListingOptions } from "./listing.ts";

/** A dispatcher that may use the client itself, where its tools are made for MCP. Any other fits too. */
export type EdgeDispatch = (
  call: Call,
  options: CallOptions & { readonly exchange?: Exchange },
) => Promise<Reply>;

export interface ServiceOptions extends Omit<ListingOptions, "answers"> {
  readonly dispatch: EdgeDispatch;
  readonly name: string;
  readonly version: string;
  /** For people. */
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
  readonly instructions?: string;
  readonly resources?: ResourceSource;
  readonly prompts?: PromptSource;
  readonly completions?: CompletionSource;
  /** Jobs that clients may have as tasks. */
  readonly tasks?: Jobs;
  /** Tools here may send log messages to clients that ask for them. */
  readonly logging?: true;
  /** How answers are shown; `structured` when absent. */
  readonly answers?: Answers | ToResult;
  /** The URIs of the workspace; text answers show paths from the first. */
  readonly roots?: readonly string[];
  /** Who calls through this edge; by default one caller who may do everything. */
  readonly caller?: Caller;
  /** Told of what the protocol has no answer for. */
  readonly log: (line: string) => void;
  /** Seals what clients hold for us; the same for all servers that a client may come back to. */
  readonly secret?: Uint8Array;
}

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/** What all connections of one MCP server share. */
export interface Service {
  /** What every modern result carries, so no more than the names. */
  readonly serverInfo: ServerInfo;
  /** All there is to say, for those who hear it once. */
  readonly fullServerInfo: ServerInfo;
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<Era, Capabilities>>;
  readonly resources: ResourceSource | undefined;
  readonly prompts: PromptSource | undefined;
  readonly completions: CompletionSource | undefined;
  readonly tasks: Tasks | undefined;
  readonly toResult: ToResult | undefined;
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  readonly log: (line: string) => void;
  readonly states: StateSeal;
  listing(): Listing;
  onListChanged(listener: () => void): () => void;
  /** Whether such a call needs what only the SDK's server has: tasks, headers, or the client itself. */
  isForSdk(name: string, clientCapabilities?: unknown): boolean;
  /** Lets the call with this signal use the client. */
  lend(exchange: Exchange, signal: AbortSignal): void;
  close(): void;
}

/** The list rarely changes, and clients that care are told when it does. */
export const LIST_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

/** Depends on who asks, and on files that change at any time. */
export const OWN_CACHE = { ttlMs: 0, cacheScope: "private" } as const;

const SECRET_BYTES = 32;

export function createService(options: ServiceOptions): Service {
  const { name, version, title, description, websiteUrl, icons } = options;
  const toResult = toResultFor(
    options.answers ?? "structured",
    createToText(options.registry, options.roots ?? []),
  );
  const listed: ListingOptions = {
    registry: options.registry,
    ...(options.profile && { profile: options.profile }),
    ...(options.mode && { mode: options.mode }),
    // What is not the envelope does not fit its schema.
    answers: toResult ? "text" : "structured",
  };
  const exchanges = new WeakMap<AbortSignal, Exchange>();
  const tasks = options.tasks && createTasks(options.tasks);
  let listing = createListing({ ...listed, ...(options.offers && { offers: options.offers }) });
  let stale = false;
  const stopWatching = options.registry.changes.listen(() => {
    stale = true;
  });
  const currentListing = () => {
    if (!stale) return listing;
    stale = false;
    try {
      listing = createListing(listed);
    } catch (cause) {
      // A tool added at run time must not take the others down.
      options.log(`the tool list stays as it was: ${cause}`);
    }
    return listing;
  };
  const dispatch: Dispatch = (call, given) => {
    const exchange = given.signal && exchanges.get(given.signal);
    return options.dispatch(call, exchange ? { ...given, exchange } : given);
  };
  const dispatchToShow: Dispatch = async (call, given) => ({
    ...(await dispatch(call, given)),
    ...(toResult && { toResult }),
  });
  const names = { name, version, ...(title && { title }) };
  return {
    serverInfo: names,
    fullServerInfo: {
      ...names,
      ...(description && { description }),
      ...(websiteUrl && { websiteUrl }),
      ...(icons && { icons }),
    },
    instructions: options.instructions || undefined,
    capabilities: { legacy: toCapabilities(options, "legacy"), modern: toCapabilities(options, "modern") },
    resources: options.resources,
    prompts: options.prompts,
    completions: options.completions,
    tasks,
    toResult,
    dispatch: toResult ? dispatchToShow : dispatch,
    caller: options.caller ?? { id: "local", access: "admin" },
    log: options.log,
    states: createStateSeal(options.secret ?? randomBytes(SECRET_BYTES)),
    listing: currentListing,
    onListChanged: (listener) => options.registry.changes.listen(listener),
    isForSdk(name, clientCapabilities) {
      const offer = currentListing().offer(name);
      if (!offer) return false;
      if (offer.usesClient || offer.usesHeaders) return true;
      return tasks !== undefined && offer.mayBeTask && knowsTasks(clientCapabilities);
    },
    lend: (exchange, signal) => {
      exchanges.set(signal, exchange);
    },
    close() {
      stopWatching();
      tasks?.close();
    },
  };
}
