import { checkKey, PROVIDER_NAMES, type ProviderName } from "@octant/agent";
import { signInToProvider } from "@octant/app";
import { ToolError, toOneLine } from "@octant/core";
import { type Credential, createCredentialStore } from "@octant/runtime";
import { defineCommand, type FlagValues, type Io, print, UsageError } from "../command.ts";
import { note } from "../output.ts";
import { readSecret, showAddress } from "../questions.ts";

const METHODS = ["key", "browser", "device"] as const;

const FLAGS = {
  method: { summary: "How to sign in; key by default", value: "HOW", choices: METHODS },
  issuer: { summary: "browser, device: the authorization server", value: "URL" },
  "client-id": { summary: "browser, device: our client id at that server", value: "ID" },
  scope: { summary: "browser, device: the scopes to request", value: "SCOPES" },
} as const;

export const login = defineCommand({
  name: "login",
  summary: "Sign in to a model provider",
  arguments: [{ name: "PROVIDER", kind: PROVIDER_NAMES, many: true, unchecked: true }],
  flags: FLAGS,
  notes: `An API key is read from the terminal, where it is not shown, or from stdin; it is never an argument.
browser and device sign in at an authorization server (OAuth with PKCE, or a device code): that of --issuer, or
oauth_credentials.<provider>.issuer in your settings. Providers: ${PROVIDER_NAMES.join(", ")}. For example:
  octant login anthropic
  octant login openai < key.txt
  octant login hanzo --method browser --issuer https://hanzo.id`,
  async run({ args, flags }, io) {
    const provider = toProvider(args);
    const store = createCredentialStore({ env: io.env });
    const credential = await obtain(provider, flags, io);
    if (credential.kind === "api_key") await check(provider, credential.key, io);
    await store.change(provider, () => credential);
    return print(`signed in to ${provider}; stored in ${store.keyringOf(provider) ?? store.file}`, io);
  },
});

/** An unreachable provider does not prevent a sign-in; one that rejects the key does. */
async function check(provider: ProviderName, key: string, io: Io): Promise<void> {
  const checked = await checkKey(provider, key, io.env);
  if (checked.state === "refused")
    throw new ToolError(
      "UNAUTHENTICATED",
      `${provider} refuses this key (${checked.reason}); nothing was stored. Check it and run octant login again`,
      {},
    );
  if (checked.state === "unknown") note(`the key was not checked: ${toOneLine(checked.reason)}`, io);
}

/** The second word may be a key, so the message does not repeat it. */
function toProvider([name, second]: readonly string[]): ProviderName {
  if (second !== undefined)
    throw new UsageError(
      "octant login takes one provider; a key is never an argument, since others can see those",
      `octant login ${PROVIDER_NAMES.some((one) => one === name) ? name : "PROVIDER"} asks for it`,
    );
  const found = PROVIDER_NAMES.find((one) => one === name);
  if (!found)
    throw new UsageError(
      "octant login needs the name of a provider",
      `providers: ${PROVIDER_NAMES.join(", ")}`,
    );
  return found;
}

async function obtain(provider: ProviderName, flags: FlagValues<typeof FLAGS>, io: Io): Promise<Credential> {
  const { method = "key" } = flags;
  if (method === "key") return { kind: "api_key", key: await readSecret(`API key of ${provider}: `, io) };
  return signInToProvider(provider, {
    method,
    env: io.env,
    issuer: flags.issuer,
    clientId: flags["client-id"],
    scope: flags.scope,
    open: (url) => showAddress(url, io),
    showCode: ({ url, code }) =>
      void note(`Open ${toOneLine(url)} on any device and enter the code ${toOneLine(code)}`, io),
  });
}
