import type { Thinking } from "@octant/runtime";
import type { ApiClient, Model } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { anthropicMessages } from "./anthropic.ts";
import { findModel } from "./catalog.ts";
import { gemini } from "./gemini.ts";
import { type Api, createHttpClient } from "./http-client.ts";
import type { CatalogEntry } from "./models.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type RetryOptions, withRetries } from "./retry.ts";

/** A model provider, with the variables that its own programs use. */
export interface Provider {
  readonly api: Api;
  readonly base_url: string;
  readonly key_variables: readonly string[];
  readonly base_url_variable: string;
  /** Used when no model is named; null when it depends on the server. */
  readonly default_model: string | null;
  /** Where its models are listed, below the base URL: the cheapest request that needs a key. */
  readonly models_path: string;
  /** The header that carries a key. */
  headers(key: string): Readonly<Record<string, string>>;
}

/** The settings shared by all servers that speak OpenAI's protocols. */
const OPENAI = {
  models_path: "/models",
  headers: (key: string) => ({ authorization: `Bearer ${key}` }),
};
const OPENAI_ACCOUNT = {
  ...OPENAI,
  base_url: "https://api.openai.com/v1",
  key_variables: ["OPENAI_API_KEY"],
  base_url_variable: "OPENAI_BASE_URL",
} as const;

/** In the order in which credentials are searched. */
export const PROVIDERS = {
  hanzo: {
    ...OPENAI,
    api: openaiChat,
    base_url: "https://api.hanzo.ai/v1",
    key_variables: ["HANZO_API_KEY"],
    base_url_variable: "HANZO_BASE_URL",
    default_model: "claude-sonnet-5-5",
  },
  anthropic: {
    api: anthropicMessages,
    base_url: "https://api.anthropic.com",
    key_variables: ["ANTHROPIC_API_KEY"],
    base_url_variable: "ANTHROPIC_BASE_URL",
    default_model: "claude-sonnet-5-5",
    models_path: "/v1/models?limit=1",
    headers: (key) => ({ "x-api-key": key }),
  },
  openai: { ...OPENAI_ACCOUNT, api: openaiResponses, default_model: "gpt-6.1-sol" },
  "openai-chat": { ...OPENAI_ACCOUNT, api: openaiChat, default_model: null },
  gemini: {
    api: gemini,
    base_url: "https://generativelanguage.googleapis.com",
    key_variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    base_url_variable: "GOOGLE_GEMINI_BASE_URL",
    default_model: "gemini-3.8-flash",
    models_path: "/v1beta/models?pageSize=1",
    headers: (key) => ({ "x-goog-api-key": key }),
  },
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof PROVIDERS;
// Object.keys widens the keys to string.
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];

/** Authenticates us to a provider. */
export interface Credentials {
  /** The headers to send; called again with `refused` when the provider rejected them. */
  headers(refused: boolean): Promise<Readonly<Record<string, string>>>;
}

/** The credentials of sign-ins. */
export interface CredentialSource {
  /** undefined without a sign-in. */
  find(provider: ProviderName): Promise<Credentials | undefined>;
}

export interface ClientOptions {
  readonly provider: ProviderName;
  readonly model: string;
  readonly base_url?: string;
  readonly credentials: Credentials;
  /** Models described in the settings. */
  readonly models?: readonly CatalogEntry[];
  readonly thinking?: Thinking | undefined;
  /** Offers the provider's own web search to the model, where the API has one. */
  readonly web_search?: boolean;
  readonly retry?: RetryOptions;
  readonly stall_ms?: number;
}

/** A client for a provider, with retries. */
export function createApiClient(options: ClientOptions): ApiClient {
  const provider: Provider = PROVIDERS[options.provider];
  const endpoint = { ...options, base_url: checkUrl(options.base_url ?? provider.base_url) };
  const known = findModel(options.provider, options.model, options.models);
  const { thinking, web_search = false } = options;
  const model = {
    ...known,
    ...(thinking !== undefined && { effort: thinking }),
    ...(web_search && toSearching(provider.api, known)),
  };
  return withRetries(createHttpClient(provider.api, model, endpoint), options.retry);
}

/** A price in the settings comes before that of the API. */
function toSearching(api: Api, model: Model): Partial<Model> {
  const search = api.searchPrice?.(model);
  return search === undefined ? {} : { web_search: true, price: model.price && { search, ...model.price } };
}

/** A plain key. It cannot be refreshed, so a rejection is final. */
export const keyCredentials = (provider: ProviderName, key: string | undefined): Credentials => ({
  async headers() {
    return key === undefined ? {} : PROVIDERS[provider].headers(key);
  },
});

function checkUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ApiError("invalid", `the base URL is not an http or https URL: ${JSON.stringify(text)}`);
  return text.replace(/\/+$/, "");
}
