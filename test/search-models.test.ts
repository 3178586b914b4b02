import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOctant, LOCAL_CALLER } from "@octant/app";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeOnnxFolder } from "../packages/search/testing/vector/onnx-folder.ts";
import { lacks } from "./ui/lacks.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-models-")));
  for (const folder of ["project", "home", "config/hanzo"])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "project/weather.md"), "Measures the wind.\n");
  writeFileSync(join(base, "project/mail.md"), "Sends a letter.\n");
});
afterEach(() => rmSync(base, { recursive: true }));

/** The nearest match to a storm, with these settings. */
async function nearestToStorm(search: object) {
  writeFileSync(join(base, "config/hanzo/settings.json"), JSON.stringify({ search }), { mode: 0o600 });
  const env = {
    PATH: process.env["PATH"],
    HOME: join(base, "home"),
    XDG_CONFIG_HOME: join(base, "config"),
    XDG_STATE_HOME: join(base, "state"),
  };
  await using octant = createOctant({
    roots: [join(base, "project")],
    env,
    tools: ["search", "job", "memory"],
  });
  // biome-ignore lint/suspicious/noExplicitAny: the envelope of any action.
  const call = async (tool: string, action: string, input: object): Promise<any> =>
    (await octant.dispatch({ tool, action, input }, { caller: LOCAL_CALLER })).envelope;
  const { job_id } = (await call("search", "index", {})).data;
  if (job_id) await call("job", "poll", { job_id });
  const asked = { query: "storm", modality: "vector", limit: 1 };
  const { data, error } = await call("search", "query", asked);
  for (const text of ["Sends a letter.", "Measures the wind."]) await call("memory", "create", { text });
  const recalled = await call("memory", "recall", { query: "storm", limit: 1 });
  return {
    hit: data?.hits[0]?.uri,
    error,
    byWords: await call("search", "query", { query: "how is the wind measured", limit: 1 }),
    embedder: (await call("search", "status", {})).data?.embedder,
    memory: recalled.data?.memories[0]?.text,
    memoryNote: recalled.data?.without_model,
  };
}

const WEATHER = "/project/weather.md";

test.skipIf(lacks("@lancedb/lancedb", "onnxruntime-node")).each(["embedded", "lancedb"])(
  "a model folder of the person's settings, with vectors kept by %s",
  async (vector_store) => {
    const folder = join(base, "weather-model");
    writeOnnxFolder(folder, { words: { wind: [1, 0], storm: [1, 0], letter: [0, 1] } });
    const found = await nearestToStorm({ embedder: { kind: "onnx", folder }, vector_store });
    expect(found).toMatchObject({
      hit: expect.stringContaining(WEATHER),
      embedder: expect.stringContaining("onnx:weather-model:"),
      memory: "Measures the wind.",
    });
  },
);

test.skipIf(lacks("onnxruntime-node"))(
  "a missing model folder is reported by the query that needs it",
  async () => {
    const { error } = await nearestToStorm({ embedder: { kind: "onnx", folder: join(base, "nowhere") } });
    expect(error).toMatchObject({ code: "UNSUPPORTED", message: expect.stringContaining("model.onnx") });
  },
);

const REASON = expect.stringContaining("the embedding model 'm' cannot be used");
/** Only a query by vectors alone fails. */
const BY_WORDS = {
  byWords: {
    data: { hits: [{ uri: expect.stringContaining(WEATHER) }], index: "fresh", without_model: REASON },
  },
  memoryNote: REASON,
};

test.each([401, 429, 500, "down"] as const)(
  "with a model that answers %s, words answer and the answer says so",
  async (status) => {
    const server = createServer((_, response) => response.writeHead(Number(status)).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A server that listens on a port has an address of this kind.
    const { port } = server.address() as AddressInfo;
    if (status === "down") server.close();
    try {
      const embedder = { kind: "ollama", url: `http://127.0.0.1:${port}`, model: "m" };
      expect(await nearestToStorm({ embedder })).toMatchObject(BY_WORDS);
    } finally {
      server.close();
    }
  },
);

test("an endpoint in the person's settings is used, and its redirects are not followed", async () => {
  let isMoved = false;
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    const embeddings = input.map((text: string) => (/wind|storm/.test(text) ? [1, 0] : [0, 1]));
    if (isMoved) response.writeHead(307, { location: "/elsewhere" });
    response.end(JSON.stringify({ embeddings }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  try {
    const embedder = { kind: "ollama", url: `http://127.0.0.1:${port}`, model: "m" };
    expect(await nearestToStorm({ embedder })).toMatchObject({
      hit: expect.stringContaining(WEATHER),
      embedder: "ollama:m",
      memory: "Measures the wind.",
    });
    isMoved = true;
    const { error, ...found } = await nearestToStorm({ embedder });
    expect(error.code).toBe("UPSTREAM_ERROR");
    expect(found).toMatchObject(BY_WORDS);
  } finally {
    server.close();
  }
});
