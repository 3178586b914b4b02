import {
  chooseProvider,
  createCredentialSource,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
} from "@octant/agent";
import { ToolError } from "@octant/core";
import {
  type Credential,
  createCredentialStore,
  loadConfig,
  signInWithBrowser,
  signInWithDevice,
} from "@octant/runtime";

/** The origin of a provider's credentials, without any secret. */
export interface ProviderCredentials {
  readonly provider: ProviderName;
  /** An environment variable, or `octant login`; null without credentials. */
  readonly source: string | null;
  readonly detail?: string;
  /** The agent uses this provider when none is named. */
  readonly used: boolean;
}

interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const UNREADABLE =
  "unreadable: written by another version of Octant, or in a keyring that is closed; octant login replaces it";

/** In the order in which the agent looks for them. */
export async function listCredentials({ env, cwd }: Place): Promise<readonly ProviderCredentials[]> {
  const store = createCredentialStore({ env });
  const stored = store.load();
  const unreadable = store.unreadable();
  const used = await findUsedProvider({ env, cwd });
  return PROVIDER_NAMES.map((provider) => ({
    provider,
    source: sourceOf(provider, stored[provider], env),
    ...(unreadable.includes(provider)
      ? { detail: UNREADABLE }
      : describe(stored[provider], store.keyringOf(provider))),
    used: provider === used,
  }));
}

function sourceOf(
  provider: ProviderName,
  credential: Credential | undefined,
  env: NodeJS.ProcessEnv,
): string | null {
  const variables: readonly string[] = PROVIDERS[provider].key_variables;
  return variables.find((name) => env[name]) ?? (credential ? "octant login" : null);
}

function describe(
  credential: Credential | undefined,
  keyring: string | undefined,
): { readonly detail?: string } {
  if (credential?.kind === "api_key")
    return { detail: keyring === undefined ? "API key" : `API key in ${keyring}` };
  if (credential?.kind !== "oauth") return {};
  const { issuer, expires_at, refresh_token } = credential;
  const until = expires_at === null ? "" : ` until ${new Date(expires_at * 1_000).toISOString()}`;
  return { detail: `signed in at ${issuer}${until}${refresh_token === null ? "" : ", renewed by itself"}` };
}

async function findUsedProvider({ env, cwd }: Place): Promise<ProviderName | undefined> {
  const { settings } = loadConfig({ roots: [cwd], env });
  const credentials = createCredentialSource(createCredentialStore({ env }));
  try {
    return (await chooseProvider({ env, settings: { ...settings, model: null }, credentials })).provider;
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "UNAUTHENTICATED") return undefined;
    throw cause;
  }
}

export interface ProviderSignIn {
  readonly method: "browser" | "device";
  readonly env: NodeJS.ProcessEnv;
  /** The authorization server; that of the settings when absent, as are the others. */
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  /** Shows the page of `browser`. */
  open(url: string): void;
  /** Shows the page and the code of `device`. */
  showCode(shown: { readonly url: string; readonly code: string }): void;
}

/** Signs in at a provider's authorization server; the caller stores the credential. */
export async function signInToProvider(provider: ProviderName, options: ProviderSignIn): Promise<Credential> {
  const { method, env, open, showCode } = options;
  const { settings } = loadConfig({ roots: [], env });
  const own = Object(settings.oauth_credentials?.[provider]);
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const issuer = options.issuer ?? text(own.issuer) ?? KNOWN_ISSUERS[provider];
  if (issuer === undefined)
    throw new ToolError(
      "UNSUPPORTED",
      `no authorization server of ${provider} is known; name it with --issuer`,
      {
        what: `sign-in to ${provider} by ${method}`,
        how: `octant login ${provider} with an API key, or --issuer URL`,
      },
    );
  const at = {
    issuer,
    client_id: options.clientId ?? text(own.client_id),
    scope: options.scope ?? text(own.scope),
    signal: new AbortController().signal,
  };
  return method === "browser"
    ? signInWithBrowser({ ...at, open })
    : signInWithDevice({ ...at, show: showCode });
}

const KNOWN_ISSUERS: Partial<Record<ProviderName, string>> = { hanzo: "https://hanzo.id" };
