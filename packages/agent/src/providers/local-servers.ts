import { listModels } from "./list-models.ts";

/** A model server on this machine. */
export interface LocalServer {
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
}

const PROBE_MS = 1_000;
const MAX_MODELS = 20;

/** The model servers that respond on the loopback address, each on its default port. */
export async function findLocalServers(env: NodeJS.ProcessEnv): Promise<readonly LocalServer[]> {
  const places = [
    ["Ollama", ollamaHost(env)],
    ["LM Studio", "127.0.0.1:1234"],
    ["llama.cpp", "127.0.0.1:8080"],
  ] as const;
  const found = await Promise.all(places.map(([name, host]) => probe(name, `http://${host}/v1`)));
  return found.filter((server) => server !== undefined);
}

/** OLLAMA_HOST is Ollama's own variable; an address on another machine is ignored. */
function ollamaHost(env: NodeJS.ProcessEnv): string {
  const named = (env["OLLAMA_HOST"] ?? "").replace(/^http:\/\//, "").replace(/\/$/, "");
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(named) && named.includes(":") ? named : "127.0.0.1:11434";
}

async function probe(name: string, base_url: string): Promise<LocalServer | undefined> {
  const models = (await listModels(base_url, { timeoutMs: PROBE_MS }))?.slice(0, MAX_MODELS) ?? [];
  return models.length === 0 ? undefined : { name, base_url, models };
}
