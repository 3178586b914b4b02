import {
  type ApiClient,
  type ClientOptions,
  chooseProvider,
  createApiClient,
  createCredentialSource,
  PROVIDERS,
} from "@octant/agent";
import { createCredentialStore, isUnrestricted, loadModels } from "@octant/runtime";
import type { Octant } from "../octant.ts";
import type { OpenAgentOptions } from "./open-agent.ts";

interface ClientChoice extends Pick<OpenAgentOptions, "provider" | "model" | "thinking"> {
  /** false: without the own web search of the model's provider. */
  readonly searches?: boolean;
}

export const openClient = async (
  ...chosen: [octant: Pick<Octant, "config">, env: NodeJS.ProcessEnv, choice: ClientChoice]
): Promise<ApiClient> => createApiClient(await chooseClient(...chosen));

/** Chooses the provider and model from options, settings and environment, which contains the API keys. */
export async function chooseClient(
  { config: { settings, permissions, origins } }: Pick<Octant, "config">,
  env: NodeJS.ProcessEnv,
  { provider, model, thinking, searches = true }: ClientChoice,
): Promise<ClientOptions> {
  const chosen = await chooseProvider({
    env,
    provider,
    model,
    settings: {
      api_key: settings.api_key,
      base_url: settings.base_url,
      model: origins.has("model") ? settings.model : null,
    },
    credentials: createCredentialSource(createCredentialStore({ env })),
  });
  const models = [loadModels({ env }), settings.models].flatMap((facts) =>
    Object.entries(facts).map(([id, known]) => ({ id, ...known })),
  );
  const { stall_seconds, net_search, tools } = settings;
  // It cannot be asked about, so a rule that asks about net.search switches it off as one that denies it does.
  const maySearch = net_search.provider === "model" && (tools?.includes("net") ?? true);
  const web_search = searches && maySearch && isUnrestricted(permissions, "net.search");
  return {
    ...chosen,
    models,
    web_search,
    thinking: thinking ?? settings.thinking ?? undefined,
    ...(stall_seconds !== null && { stall_ms: stall_seconds * 1_000 }),
  };
}

/** The choices of the project's files that affect the cost and take effect without trust, one line each. */
export function chosenByProject(
  { config: { settings, origins } }: Pick<Octant, "config">,
  given: Pick<OpenAgentOptions, "client" | "model" | "thinking">,
): readonly string[] {
  if (given.client) return [];
  return (["model", "thinking"] as const).flatMap((key) => {
    const { tier, file } = origins.get(key) ?? {};
    if (given[key] !== undefined || !file || (tier !== "project" && tier !== "local")) return [];
    return [`the ${key} ${settings[key]} is the choice of ${file}; --${key} overrides it`];
  });
}

/** Programs that the agent starts must not get the provider's API keys. */
export function withoutKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const keys = new Set(
    Object.values(PROVIDERS).flatMap(({ key_variables }) => key_variables as readonly string[]),
  );
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.has(name)));
}
