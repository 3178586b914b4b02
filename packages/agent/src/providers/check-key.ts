import { PROVIDERS, type Provider, type ProviderName } from "./providers.ts";

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
    const response = await fetch(`${base}${provider.models_path}`, {
      headers: { ...provider.api.headers, ...provider.headers(key) },
      signal: AbortSignal.timeout(CHECK_MS),
      // A redirect would carry the key to another host.
      redirect: "error",
    });
    const text = await response.text();
    if (response.ok) return { state: "accepted" };
    // Gemini answers 400 where the others answer 401.
    const isRefused = REFUSALS.includes(response.status) || /API_KEY_INVALID/.test(text);
    return { state: isRefused ? "refused" : "unknown", reason: `${name} answered ${response.status}` };
  } catch {
    return { state: "unknown", reason: `${name} could not be reached at ${URL.parse(base)?.host ?? base}` };
  }
}
