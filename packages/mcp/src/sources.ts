import type { Attachment, CallOptions } from "@octant/core";
import type { Exchange } from "./asking/exchange.ts";
import type { Plain } from "./messages.ts";

/** The caller of a request, and how to ask it. */
export interface FeatureContext extends Pick<CallOptions, "caller" | "ask"> {
  readonly signal: AbortSignal;
  readonly exchange: Exchange;
}

export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: string[];
  readonly theme?: "light" | "dark";
}

interface Described {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

export interface Resource extends Described {
  readonly uri: string;
  readonly mimeType?: string;
  readonly size?: number;
}

export interface ResourceTemplate extends Described {
  readonly uriTemplate: string;
  readonly mimeType?: string;
}

export type ResourceContent = { readonly uri: string; readonly mimeType?: string; readonly _meta?: Plain } & (
  | { readonly text: string }
  | { readonly blob: string }
);

export interface MediaBlock {
  readonly type: Attachment["kind"];
  readonly data: string;
  readonly mimeType: string;
}

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "resource"; readonly resource: ResourceContent }
  | MediaBlock;

export interface Prompt extends Described {
  readonly arguments?: (Described & { readonly required?: boolean })[];
}

/** A prompt with its arguments filled in. */
export interface FilledPrompt {
  readonly description?: string;
  readonly messages: { readonly role: "user" | "assistant"; readonly content: ContentBlock }[];
}

/** The resources of a server. Failures are ToolErrors. */
export interface ResourceSource {
  list(
    cursor: string | undefined,
    ctx: FeatureContext,
  ): Promise<{ readonly resources: Resource[]; readonly nextCursor?: string }>;
  readonly templates: readonly ResourceTemplate[];
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
  get(name: string, args: Readonly<Record<string, string>>, ctx: FeatureContext): Promise<FilledPrompt>;
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
