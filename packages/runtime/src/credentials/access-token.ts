import { ToolError } from "@octant/core";
import type { BrowserOptions, DeviceOptions } from "./sign-in.ts";
import type { CredentialStore, OAuthCredential } from "./store.ts";

/** A token that ends within this is refreshed before it is used. */
const EARLY_S = 60;

/**
 * The access token of a sign-in, refreshed when it has expired or was `refused`. Processes refresh one after the
 * other, and use a token that another has just stored: a refresh token may be used only once.
 */
export async function accessToken(
  store: CredentialStore,
  name: string,
  { refused, signal }: { readonly refused?: string | undefined; readonly signal: AbortSignal },
): Promise<string> {
  const isGood = (one: OAuthCredential) => one.access_token !== refused && !isEnding(one);
  const now = oauthOf(store.load()[name], name);
  if (isGood(now)) return now.access_token;
  const stored = await store.change(name, async (latest) => {
    const current = oauthOf(latest, name);
    if (isGood(current)) return current;
    const { refresh } = await import("./sign-in.ts");
    return refresh(current, signal);
  });
  return oauthOf(stored, name).access_token;
}

const isEnding = ({ expires_at }: OAuthCredential): boolean =>
  expires_at !== null && expires_at - EARLY_S < Date.now() / 1_000;

function oauthOf(
  credential: ReturnType<CredentialStore["load"]>[string] | undefined,
  name: string,
): OAuthCredential {
  if (credential?.kind === "oauth") return credential;
  throw new ToolError("UNAUTHENTICATED", `not signed in to ${name}; run: octant login ${name}`, {});
}

// The library is loaded on the first sign-in.

export const signInWithBrowser = async (options: BrowserOptions): Promise<OAuthCredential> =>
  (await import("./sign-in.ts")).signInWithBrowser(options);

export const signInWithDevice = async (options: DeviceOptions): Promise<OAuthCredential> =>
  (await import("./sign-in.ts")).signInWithDevice(options);
