import { ToolError } from "@octant/core";
import { z } from "zod";
import type { Credentials } from "./providers.ts";

const LIST_MS = 5_000;
const MAX_SHOWN = 20;
const Models = z.object({ data: z.array(z.object({ id: z.string().regex(/^[^\s\p{Cc}]{1,200}$/u) })) });

/** The models of an OpenAI-compatible server that can answer; undefined when it does not list them. */
export async function listModels(
  base_url: string,
  {
    headers = {},
    timeoutMs = LIST_MS,
  }: { headers?: Readonly<Record<string, string>>; timeoutMs?: number } = {},
): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${base_url.replace(/\/+$/, "")}/models`, {
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      // A redirect would carry the key to another host.
      redirect: "error",
    });
    const { data } = Models.parse(await response.json());
    return data.map(({ id }) => id).filter((id) => !/embed|rerank/i.test(id));
  } catch {
    return undefined;
  }
}

/** The model of a server that has only one. */
export async function onlyModel(base_url: string, credentials: Credentials): Promise<string> {
  const models = await listModels(base_url, { headers: await credentials.headers(false) });
  const [model] = models ?? [];
  if (model !== undefined && models?.length === 1) return model;
  const server = `the server at ${URL.parse(base_url)?.host ?? base_url}`;
  const message = `${server} ${problemOf(models)}`;
  throw new ToolError("INVALID_ARGUMENT", message, {
    issues: [{ path: "model", message: "expected the name of a model" }],
  });
}

function problemOf(models: readonly string[] | undefined): string {
  if (!models) return "does not list its models; start it, or name a model with --model";
  if (models.length === 0) return "has no model yet; load one into it, or name one with --model";
  const more = models.length > MAX_SHOWN ? `, and ${models.length - MAX_SHOWN} more` : "";
  return `has several models; name one with --model: ${models.slice(0, MAX_SHOWN).join(", ")}${more}`;
}
