import { z } from "zod";

/** A model server on this machine. */
export interface LocalServer {
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
}

const PROBE_MS = 1_000;
const MAX_MODELS = 20;
const Models = z.object({ data: z.array(z.object({ id: z.string().regex(/^[^\s\p{Cc}]{1,200}$/u) })) });

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
  try {
    const response = await fetch(`${base_url}/models`, {
      signal: AbortSignal.timeout(PROBE_MS),
      redirect: "error",
    });
    const { data } = Models.parse(await response.json());
    const models = data.slice(0, MAX_MODELS).map(({ id }) => id);
    return models.length === 0 ? undefined : { name, base_url, models };
  } catch {
    // Nothing there, or another service: do not offer it.
    return undefined;
  }
}
