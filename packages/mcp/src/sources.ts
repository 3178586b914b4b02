import type {
  BlobResourceContents,
  GetPromptResult,
  Icon,
  ListResourcesResult,
  Prompt,
  ResourceTemplateType,
  TextResourceContents,
} from "@modelcontextprotocol/client";
import type { CallOptions } from "@octant/core";
import type { Exchange } from "./asking/exchange.ts";

/** The caller of a request, and how to ask it. */
export interface FeatureContext extends Pick<CallOptions, "caller" | "ask"> {
  readonly signal: AbortSignal;
  readonly exchange: Exchange;
}

export type { Icon, Prompt };

export type ResourceContent = TextResourceContents | BlobResourceContents;

/** The resources of a server. Failures are ToolErrors. */
export interface ResourceSource {
  list(
    cursor: string | undefined,
    ctx: FeatureContext,
  ): Promise<Pick<ListResourcesResult, "resources" | "nextCursor">>;
  readonly templates: readonly ResourceTemplateType[];
  /** undefined when there is no such resource. */
  read(uri: string, ctx: FeatureContext): Promise<readonly ResourceContent[] | undefined>;
  /**
   * Calls back when the content may have changed; resolves, once that is ensured, with a function that ends it.
   * undefined when there is no such resource. Without it there are no subscriptions.
   */
  subscribe?(
    uri: string,
    onChange: () => void,
    ctx: Pick<FeatureContext, "caller" | "signal">,
  ): Promise<(() => void) | undefined>;
  /** Calls back when the list changes for this caller; returns a function that ends it. */
  onListChange?(listener: () => void, ctx: Pick<FeatureContext, "caller">): () => void;
}

/** Prompts with which a person starts work. */
export interface PromptSource {
  list(): readonly Prompt[];
  /** Called only for listed names, with all required arguments. */
  get(name: string, args: Readonly<Record<string, string>>, ctx: FeatureContext): Promise<GetPromptResult>;
  onChange?(listener: () => void): () => void;
}

/** Where a value is being typed: an argument of a prompt, or a variable of a resource template. */
export interface CompletionRequest {
  readonly of: { readonly prompt: string } | { readonly template: string };
  readonly argument: string;
  readonly value: string;
  /** The arguments entered so far. */
  readonly others: Readonly<Record<string, string>>;
}

/** Best first. */
export type CompletionSource = (
  request: CompletionRequest,
  ctx: FeatureContext,
) => Promise<readonly string[]>;
