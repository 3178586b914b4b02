import { ToolError } from "@octant/core";
import { accessToken, type CredentialStore } from "@octant/runtime";
import { onlyModel } from "./list-models.ts";
import {
  type CredentialSource,
  type Credentials,
  keyCredentials,
  PROVIDER_NAMES,
  PROVIDERS,
  type Provider,
  type ProviderName,
} from "./providers.ts";

/** The inputs for choosing a provider; all are optional. */
export interface ProviderChoice {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Chosen by the person. */
  readonly provider?: ProviderName;
  readonly model?: string;
  /** From the settings. */
  readonly settings?: {
    readonly api_key?: string | null;
    readonly base_url?: string | null;
    /** Only when explicitly set. */
    readonly model?: string | null;
  };
  /** Sign-ins. */
  readonly credentials?: CredentialSource;
}

export interface ChosenProvider {
  readonly provider: ProviderName;
  readonly model: string;
  readonly base_url: string;
  readonly credentials: Credentials;
}

/**
 * The named provider, or the first with credentials; the maker of the requested model comes first. Throws
 * UNAUTHENTICATED with the ways to get credentials when there are none.
 */
export async function chooseProvider(choice: ProviderChoice): Promise<ChosenProvider> {
  const wanted = choice.model ?? choice.settings?.model ?? undefined;
  const candidates = choice.provider ? [choice.provider] : inOrder(wanted, choice);
  for (const name of candidates) {
    const credentials = await findCredentials(name, choice);
    if (!credentials) continue;
    const provider: Provider = PROVIDERS[name];
    const base_url = baseUrlOf(name, choice);
    const model = wanted ?? provider.default_model ?? (await onlyModel(base_url, credentials));
    return { provider: name, model, base_url, credentials };
  }
  throw noCredentials(choice.provider);
}

/** Self-hosted servers usually speak the older protocol. */
function inOrder(model: string | undefined, choice: ProviderChoice): readonly ProviderName[] {
  const own = choice.env["OPENAI_BASE_URL"] || choice.settings?.base_url || "";
  const hasOwnServer = own !== "" && !/api\.openai\.com/.test(own);
  const names = PROVIDER_NAMES.filter((name) => name !== (hasOwnServer ? "openai" : "openai-chat"));
  const maker = MAKERS.find(([pattern]) => model !== undefined && pattern.test(model))?.[1];
  if (maker) return [maker, ...names.filter((name) => name !== maker)];
  // The address in the settings applies to every provider; without a key the common protocol is the best guess.
  const isKeyless = Boolean(choice.settings?.base_url) && !choice.env["HANZO_API_KEY"];
  return hasOwnServer && isKeyless
    ? ["openai-chat", ...names.filter((name) => name !== "openai-chat")]
    : names;
}

const MAKERS: readonly (readonly [RegExp, ProviderName])[] = [
  [/^claude/, "anthropic"],
  [/^(gpt-[4-9]|o[1-9]|codex)/, "openai"],
  [/^gemini/, "gemini"],
];

/** The credentials of a provider, from the environment, a sign-in or the settings; undefined without any. */
export async function findCredentials(
  name: ProviderName,
  choice: ProviderChoice,
): Promise<Credentials | undefined> {
  const { env, settings } = choice;
  const provider: Provider = PROVIDERS[name];
  const key = provider.key_variables.map((variable) => env[variable]).find(Boolean);
  if (key) return keyCredentials(name, key);
  const signedIn = await choice.credentials?.find(name);
  if (signedIn) return signedIn;
  if (settings?.api_key) return keyCredentials(name, settings.api_key);
  // A self-hosted server often needs no key.
  const isOwnServer = baseUrlOf(name, choice) !== provider.base_url;
  return isOwnServer ? keyCredentials(name, undefined) : undefined;
}

function baseUrlOf(name: ProviderName, { env, settings, provider }: ProviderChoice): string {
  const { base_url, base_url_variable }: Provider = PROVIDERS[name];
  const general = provider === undefined || provider === name ? settings?.base_url : undefined;
  return env[base_url_variable] || general || base_url;
}

function noCredentials(provider: ProviderName | undefined): ToolError {
  const keys = PROVIDER_NAMES.map((name) => PROVIDERS[name].key_variables[0]);
  const variable = provider ? PROVIDERS[provider].key_variables[0] : [...new Set(keys)].join(", ");
  const lines = [
    `no credentials for ${provider ?? "a model provider"} were found. Three ways to get an answer:`,
    "  local model   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 octant run …  (Ollama, llama.cpp, vLLM)",
    `  API key       set ${variable}`,
    `  sign-in       octant login${provider ? ` ${provider}` : ""}`,
  ];
  return new ToolError("UNAUTHENTICATED", lines.join("\n"), {});
}

/** The sign-ins of `octant login`. A rejected token is refreshed once per rejected request. */
export const createCredentialSource = (store: CredentialStore): CredentialSource => ({
  async find(provider) {
    const stored = store.load()[provider];
    if (stored?.kind === "api_key") return keyCredentials(provider, stored.key);
    if (stored?.kind !== "oauth") return undefined;
    let sent: string | undefined;
    return {
      async headers(refused) {
        const { signal } = new AbortController();
        sent = await accessToken(store, provider, { refused: refused ? sent : undefined, signal });
        return { authorization: `Bearer ${sent}` };
      },
    };
  },
});
