import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHttpEmbedder } from "./http-embedder.ts";

let server: Server;
let url: string;
const seen: { path: string; body: { model: string; input: string[] }; key: string | undefined }[] = [];

/** Answers like OpenAI under /v1 (in a different order) and like Ollama under /api. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    seen.push({ path: request.url ?? "", body, key: request.headers.authorization });
    if (body.model === "missing") response.statusCode = 404;
    const vectors = body.input.map((text: string) => [text.length, 0, 0]);
    const data = vectors.map((embedding: number[], index: number) => ({ index, embedding })).reverse();
    const answers: Record<string, unknown> = {
      "/v1/embeddings": { data },
      "/api/embed": { embeddings: body.model === "short" ? vectors.slice(1) : vectors },
    };
    response.end(JSON.stringify(answers[request.url ?? ""] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server listening on a port has an address of this type.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const embedder = (api: "openai" | "ollama", model = "m", prefixes?: { question: string; passage: string }) =>
  createHttpEmbedder({
    api,
    model,
    prefixes,
    fetch,
    url: api === "openai" ? `${url}/v1/` : url,
    headers: { authorization: "Bearer key" },
  });
const never = () => new AbortController().signal;

test.each(["openai", "ollama"] as const)(
  "%s: a vector of length one for each text, in order",
  async (api) => {
    const vectors = await embedder(api).embed(["a", "bb"], "passage", never());
    expect(vectors.map((vector) => [...vector])).toEqual([
      [1, 0, 0],
      [1, 0, 0],
    ]);
    expect(seen.at(-1)).toMatchObject({ body: { model: "m", input: ["a", "bb"] }, key: "Bearer key" });
    expect(await embedder(api).embed([], "passage", never())).toEqual([]);
  },
);

test("questions and passages get their prefixes, and long texts are cut", async () => {
  const prefixes = { question: "q: ", passage: "p: " };
  await embedder("ollama", "m", prefixes).embed(["x".repeat(20_000)], "question", never());
  expect(seen.at(-1)?.body.input[0]).toMatch(/^q: x{7997}$/);
});

test.each(["missing", "short"])(
  "a model that is %s is an error of the endpoint, without its address",
  async (model) => {
    const failure = embedder("ollama", model).embed(["a", "b"], "question", never());
    await expect(failure).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
    await expect(failure).rejects.not.toThrow("127.0.0.1");
  },
);

test("an unreachable endpoint is reported, and a cancellation passes through unchanged", async () => {
  const gone = createHttpEmbedder({ api: "openai", url: "http://127.0.0.1:9", model: "m", fetch });
  await expect(gone.embed(["a"], "question", never())).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  const reason = new Error("enough");
  await expect(embedder("openai").embed(["a"], "question", AbortSignal.abort(reason))).rejects.toBe(reason);
});
