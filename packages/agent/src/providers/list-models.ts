import { ToolError } from "@octant/core";
import { z } from "zod";
import {
  type ClientOptions,
  type Credentials,
  PROVIDERS,
  type Provider,
  type ProviderName,
} from "./providers.ts";

const LIST_MS = 5_000;
const MAX_SHOWN = 20;
const Models = z.object({ data: z.array(z.object({ id: z.string().regex(/^[^\s\p{Cc}]{1,200}$/u) })) });

const askFor = (url: string, headers: Readonly<Record<string, string>>, timeoutMs: number) =>
  // A redirect would carry the key to another host.
  fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" });

/** The models of an OpenAI-compatible server that can answer; undefined when it does not list them. */
export async function listModels(
  base_url: string,
  { headers = {}, timeoutMs = LIST_MS }: ListOptions = {},
): Promise<readonly string[] | undefined> {
  try {
    const response = await askFor(`${base_url.replace(/\/+$/, "")}/models`, headers, timeoutMs);
    const { data } = Models.parse(await response.json());
    return data.map(({ id }) => id).filter((id) => !/embed|rerank/i.test(id));
  } catch {
    return undefined;
  }
}

const GeminiModels = z.object({ models: z.array(z.object({ name: z.string().startsWith("models/") })) });
const MAX_MODELS = 200;

/** The models of a provider that can answer; undefined when it does not list them. */
export async function listProviderModels({
  provider: name,
  base_url,
  credentials,
}: Pick<ClientOptions, "provider" | "base_url" | "credentials">): Promise<readonly string[] | undefined> {
  const provider: Provider = PROVIDERS[name];
  const base = (base_url ?? provider.base_url).replace(/\/+$/, "");
  const path = provider.models_path.replace(/\?.*$/, "");
  try {
    const headers = { ...provider.api.headers, ...(await credentials.headers(false)) };
    const response = await askFor(`${base}${path}`, headers, LIST_MS);
    const body: unknown = await response.json();
    const ids =
      Models.safeParse(body).data?.data.map(({ id }) => id) ??
      GeminiModels.parse(body).models.map(({ name }) => name.slice("models/".length));
    return ids.filter((id) => !NOT_FOR_CHAT.test(id)).slice(0, MAX_MODELS);
  } catch {
    return undefined;
  }
}

const NOT_FOR_CHAT = /embed|rerank|whisper|tts|dall-e|moderation|imagen|veo/i;

interface ListOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** A server has several models, and nothing says which of them is meant. */
export class SeveralModels extends ToolError {
  readonly server: string;
  readonly models: readonly string[];

  constructor(server: string, models: readonly string[]) {
    const more = models.length > MAX_SHOWN ? `, and ${models.length - MAX_SHOWN} more` : "";
    const names = models.slice(0, MAX_SHOWN).join(", ");
    super("INVALID_ARGUMENT", `${server} has several models; name one with --model: ${names}${more}`, ISSUES);
    this.server = server;
    this.models = models;
  }
}

const ISSUES = { issues: [{ path: "model", message: "expected the name of a model" }] };

/** The model of a server that has only one. */
export async function onlyModel(base_url: string, credentials: Credentials): Promise<string> {
  const models = await listModels(base_url, { headers: await credentials.headers(false) });
  const [model, another] = models ?? [];
  const server = `the server at ${URL.parse(base_url)?.host ?? base_url}`;
  if (models && another !== undefined) throw new SeveralModels(server, models);
  if (model !== undefined) return model;
  const problem = models
    ? "has no model yet; load one into it, or name one with --model"
    : "does not list its models; start it, or name a model with --model";
  throw new ToolError("INVALID_ARGUMENT", `${server} ${problem}`, ISSUES);
}

export type KeyCheck =
  | { readonly state: "accepted" }
  | { readonly state: "refused"; readonly reason: string }
  /** The provider was not reached, or its answer says nothing about the key. */
  | { readonly state: "unknown"; readonly reason: string };

const CHECK_MS = 10_000;
const REFUSALS: readonly number[] = [401, 403];

/** Asks the provider whether it takes this key, with a request that costs nothing. */
export async function checkKey(
  name: ProviderName,
  key: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<KeyCheck> {
  const provider: Provider = PROVIDERS[name];
  const base = (env[provider.base_url_variable] || provider.base_url).replace(/\/+$/, "");
  try {
    const headers = { ...provider.api.headers, ...provider.headers(key) };
    const response = await askFor(`${base}${provider.models_path}`, headers, CHECK_MS);
    const text = await response.text();
    if (response.ok) return { state: "accepted" };
    // Gemini answers 400 where the others answer 401.
    const isRefused = REFUSALS.includes(response.status) || /API_KEY_INVALID/.test(text);
    return { state: isRefused ? "refused" : "unknown", reason: `${name} answered ${response.status}` };
  } catch {
    return { state: "unknown", reason: `${name} could not be reached at ${URL.parse(base)?.host ?? base}` };
  }
}
