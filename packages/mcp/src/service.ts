import { randomBytes } from "node:crypto";
import {
  type Answers,
  type Call,
  type Caller,
  type CallOptions,
  createLiveListing,
  createShorten,
  createToText,
  type ListingOptions,
  type LiveListing,
  type Reply,
} from "@octant/core";
import { createFormFor, type ToResult, toResultsFor } from "./answer.ts";
import type { Exchange } from "./asking/exchange.ts";
import { createStateSeal, type StateSeal } from "./asking/request-state.ts";
import type { Era } from "./era.ts";
import type { Plain } from "./messages.ts";
import { type Capabilities, createMethods, type Methods, toCapabilities } from "./methods/index.ts";
import type { CompletionSource, Icon, PromptSource, ResourceSource } from "./sources.ts";
import { createTasks, type TaskJobs, type Tasks } from "./tasks/tasks.ts";

/** A dispatcher that may use the client itself, for tools made for MCP. Any other fits too. */
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
  /** Jobs that clients may use as tasks. */
  readonly tasks?: TaskJobs;
  /** Tools may send log messages to clients that request them. */
  readonly logging?: true;
  /** The form of answers; chosen by the client's name when absent. */
  readonly answers?: Answers | ToResult;
  /** The URIs of the workspace; text answers show paths relative to the first. */
  readonly roots?: readonly string[];
  /** The caller of this edge; by default one with full access. */
  readonly caller?: Caller;
  /** Receives a client's description of itself, with each of its requests. */
  readonly onClient?: (clientInfo: unknown) => void;
  /** Receives messages for which the protocol has no answer. */
  readonly log: (line: string) => void;
  /** Seals state that clients hold; must be the same for all servers that a client may return to. */
  readonly secret?: Uint8Array;
}

/** The state shared by all connections of one MCP server. */
export interface Service extends Omit<ServiceOptions, "tasks" | "caller"> {
  /** Part of every modern result, so it has only the names. */
  readonly serverInfo: Plain;
  /** With description and icons, for results that a client gets once. */
  readonly fullServerInfo: Plain;
  readonly capabilities: Readonly<Record<Era, Capabilities>>;
  readonly methods: Readonly<Record<Era, Methods>>;
  readonly listing: LiveListing;
  readonly tasks: Tasks | undefined;
  /** The form of answers for a client that names itself so. */
  readonly formFor: (clientInfo: unknown) => Answers;
  readonly toResult: Readonly<Record<Answers, ToResult>>;
  readonly caller: Caller;
  readonly states: StateSeal;
  close(): void;
}

const SECRET_BYTES = 32;

export function createService(options: ServiceOptions): Service {
  const { name, version, title, description, websiteUrl, icons, log } = options;
  const { answers, registry, roots = [] } = options;
  const listing = createLiveListing(options, log);
  const tasks = options.tasks && createTasks(options.tasks);
  const byEra = <T>(make: (options: ServiceOptions, era: Era) => T) => ({
    legacy: make(options, "legacy"),
    modern: make(options, "modern"),
  });
  return {
    ...options,
    serverInfo: { name, version, title },
    fullServerInfo: { name, version, title, description, websiteUrl, icons },
    capabilities: byEra(toCapabilities),
    methods: byEra(createMethods),
    listing,
    tasks,
    formFor: createFormFor(answers),
    toResult: toResultsFor(answers, createToText(registry, roots), createShorten(registry, roots)),
    caller: options.caller ?? { id: "local", access: "admin" },
    states: createStateSeal(options.secret ?? randomBytes(SECRET_BYTES)),
    close() {
      listing.close();
      tasks?.close();
    },
  };
}
