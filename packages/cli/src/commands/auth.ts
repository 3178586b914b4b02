import {
  chooseProvider,
  createCredentialSource,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
} from "@octant/agent";
import { ToolError } from "@octant/core";
import { type Credential, createCredentialStore, loadConfig } from "@octant/runtime";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, print, printJson } from "../command.ts";

export const auth = defineCommand({
  name: "auth",
  summary: "Show where credentials for models come from",
  arguments: [{ name: "status", kind: ["status"], optional: true }],
  flags: { json: { summary: "Print as JSON" } },
  notes:
    "Without --provider, the first of these with credentials is used, in this order. No secret is shown.",
  async run({ flags }, io) {
    const store = createCredentialStore({ env: io.env });
    const stored = store.load();
    const unreadable = store.unreadable();
    const used = await usedProvider(io);
    const rows = PROVIDER_NAMES.map((provider) => ({
      provider,
      source: sourceOf(provider, stored[provider], io),
      ...(unreadable.includes(provider)
        ? { detail: UNREADABLE }
        : describe(stored[provider], store.keyringOf(provider))),
      used: provider === used,
    }));
    if (flags.json) return printJson(rows, io);
    const shown = rows.map(({ provider, source, detail, used: isUsed }) => [
      provider,
      source ?? "none",
      detail ?? "",
      isUsed ? "used" : "",
    ]);
    const table = toColumns([["provider", "credentials from", "", ""], ...shown]).join("\n");
    return print(table, io, used === undefined ? EXIT.FAILED : EXIT.OK);
  },
});

const UNREADABLE =
  "unreadable: written by another version of Octant, or in a keyring that is closed; octant login replaces it";

function sourceOf(provider: ProviderName, credential: Credential | undefined, { env }: Io): string | null {
  const variables: readonly string[] = PROVIDERS[provider].key_variables;
  return variables.find((name) => env[name]) ?? (credential ? "octant login" : null);
}

function describe(
  credential: Credential | undefined,
  place: string | undefined,
): { readonly detail?: string } {
  if (credential?.kind === "api_key")
    return { detail: place === undefined ? "API key" : `API key in ${place}` };
  if (credential?.kind !== "oauth") return {};
  const { issuer, expires_at, refresh_token } = credential;
  const until = expires_at === null ? "" : ` until ${new Date(expires_at * 1_000).toISOString()}`;
  return { detail: `signed in at ${issuer}${until}${refresh_token === null ? "" : ", renewed by itself"}` };
}

async function usedProvider(io: Io): Promise<ProviderName | undefined> {
  const { settings } = loadConfig({ roots: [io.cwd()], env: io.env });
  const credentials = createCredentialSource(createCredentialStore({ env: io.env }));
  try {
    return (await chooseProvider({ env: io.env, settings: { ...settings, model: null }, credentials }))
      .provider;
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "UNAUTHENTICATED") return undefined;
    throw cause;
  }
}
