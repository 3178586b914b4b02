import { embedTexts, type Models, PROVIDER_NAMES, type ProviderName } from "@octant/agent";
import { toRef } from "@octant/host";
import { createTermCutter, loadWordTable, type WordTable } from "@octant/search";
import type { Octant } from "../octant.ts";
import { chooseClient, openClient } from "./choose-client.ts";

/** Models for tools, chosen like the agent's own. `env` contains the API keys. */
export function createWorkspaceModels(octant: Octant, env: NodeJS.ProcessEnv): Models {
  let table: WordTable | undefined;
  return {
    client: (name) => openClient(octant, env, { ...splitName(name), searches: false }),
    async embed(texts, name, signal) {
      if (name !== undefined)
        return embedTexts(await chooseClient(octant, env, splitName(name)), texts, signal);
      table ??= loadWordTable();
      const { placeQuestion } = table;
      const cut = createTermCutter();
      return {
        provider: "local",
        model: "code-words",
        vectors: texts.map((text) => placeQuestion([...cut(text)])),
        input_tokens: null,
      };
    },
    spend: (caller, { usage, cost }) => octant.spending.spend(caller, { by: "llm", turns: 0, usage, cost }),
    store: (bytes) => toRef(octant.workspace.blobs.put(bytes)),
  };
}

/** `provider/model`, or a model alone. */
function splitName(name: string | undefined): { provider?: ProviderName; model?: string } {
  if (name === undefined) return {};
  const provider = PROVIDER_NAMES.find((known) => name.startsWith(`${known}/`));
  return provider ? { provider, model: name.slice(provider.length + 1) } : { model: name };
}
