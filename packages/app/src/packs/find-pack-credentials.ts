import {
  type Credentials,
  createCredentialSource,
  findCredentials,
  PROVIDER_NAMES,
  type ProviderName,
} from "@octant/agent";
import { type PackContext, ToolError } from "@octant/core";
import { createCredentialStore, type EffectiveSettings } from "@octant/runtime";
import type { FoundPack } from "./read-pack.ts";

interface Sources {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Pick<EffectiveSettings, "api_key">;
}

/** The sign-ins of a pack: those that its rights name, as the agent would find them. */
export function findPackCredentials(
  { pack, rights }: Pick<FoundPack, "pack" | "rights">,
  { env, settings }: Sources,
): PackContext["credentials"] {
  const sent = new Map<ProviderName, Credentials>();
  return async (name, { refused = false } = {}) => {
    const provider = PROVIDER_NAMES.find((one) => one === name);
    if (!provider || !rights.credentials.includes(name)) throw undeclared(pack, name);
    const last = refused ? sent.get(provider) : undefined;
    if (last) return last.headers(true);
    const { api_key } = settings;
    const source = createCredentialSource(createCredentialStore({ env }));
    const found = await findCredentials(provider, { env, settings: { api_key }, credentials: source });
    if (!found)
      throw new ToolError(
        "UNAUTHENTICATED",
        `not signed in to ${provider}; run: octant login ${provider}`,
        {},
      );
    sent.set(provider, found);
    return found.headers(false);
  };
}

function undeclared(pack: string, provider: string): ToolError {
  const reason = `rights.credentials of its package.json does not name a provider '${provider}'`;
  return new ToolError("PERMISSION_DENIED", `pack '${pack}' may not use this sign-in: ${reason}`, {
    by: "rights of the pack",
    reason,
  });
}
