import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answer, openModelService } from "../../testing/model-service.ts";
import { type Music, openMusic } from "../../testing/open-music.ts";
import { encodeWav } from "../audio/wav.ts";
import { SERVICES } from "./rows.ts";

const TUNE = "X:1\nT:T\nK:C\nCDEF|\n";
const WAV = encodeWav({ rate: 8_000, channels: [new Float32Array(100)] }).toString("base64");
/** A result of each kind of finding. */
const FINDINGS: Readonly<Record<string, object>> = {
  "orpheus.classify": { classifications: [{ label: "human", confidence: 0.75 }] },
  "clap.analyze": { genre: [{ label: "folk", score: 0.5 }] },
  "beatthis.analyze": { beats: [0.5, 1], downbeats: [0.5], bpm: 120 },
};
const ROWS = Object.entries(SERVICES).flatMap(([tool, { actions }]) =>
  Object.entries(actions).map(([name, row]) => ({ name: `${tool}.${name}`, tool, path: `/${name}`, row })),
);

let music: Music;
let sources: { midi: string; audio: string; bytes: string };
beforeAll(async () => {
  music = await openMusic();
  const { artifact } = await music.call("abc.to_midi", { abc: TUNE });
  const wav = await music.call("artifact.upload", { name: "a.wav", content: WAV, encoding: "base64" });
  const bytes = (await music.bytesOf(artifact)).toString("base64");
  sources = { midi: artifact.artifact_id, audio: wav.artifact.artifact_id, bytes };
});
afterAll(async () => {
  expect(music.bugs).toEqual([]);
  await music[Symbol.asyncDispose]();
});

test.each(ROWS)(
  "$name without a service is UNSUPPORTED and names the setting",
  async ({ name, tool, row }) => {
    expect(await music.call(name, row.example)).toMatchObject({
      failed: "UNSUPPORTED",
      message: expect.stringContaining(`packs.music.settings.${tool}: set it to the address`),
      details: { what: `packs.music.settings.${tool}` },
    });
  },
);

/** The pack on the same store, with one service. */
async function withService(tool: string, handle: Parameters<typeof openModelService>[1]) {
  const actions = Object.entries(SERVICES[tool]?.actions ?? {});
  const fields = Object.fromEntries(actions.map(([name, row]) => [`/${name}`, Object.keys(row.input)]));
  const service = await openModelService(fields, handle);
  const pack = await openMusic({ [tool]: service.url });
  const { artifact } = await pack.call("abc.to_midi", { abc: TUNE });
  const wav = await pack.call("artifact.upload", { name: "a.wav", content: WAV, encoding: "base64" });
  return {
    service,
    pack,
    own: { midi: artifact.artifact_id, audio: wav.artifact.artifact_id },
    async [Symbol.asyncDispose]() {
      expect(pack.bugs).toEqual([]);
      await pack[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

test.each(Object.keys(SERVICES))(
  "%s sends every parameter and stores or returns the result",
  async (tool) => {
    let result: unknown;
    await using open = await withService(tool, (_, response) => answer(response, result));
    for (const { name, path, row } of ROWS.filter((one) => one.tool === tool)) {
      const named = Object.entries(row.sources).map(([key, kind]) => [key, open.own[kind]]);
      const content = row.result === "audio" ? WAV : sources.bytes;
      result = FINDINGS[name] ?? { results: [{ content }, { content }], model: "base" };
      const data = await open.pack.call(name, { ...row.example, ...Object.fromEntries(named) });
      const sent = open.service.requests.at(-1);
      expect(sent?.path).toBe(path);
      expect(Object.keys(sent?.body ?? {}).sort()).toEqual(Object.keys(row.input).sort());
      if (typeof row.result !== "string") expect(data).toEqual(FINDINGS[name]);
      else {
        const parents = [...new Set(named.map(([, id]) => id))];
        expect(data.artifacts).toHaveLength(2);
        expect(data.artifacts[0]).toMatchObject({ parents, tags: [`model:${tool}`, `type:${row.result}`] });
        expect((await open.pack.bytesOf(data.artifacts[0])).toString("base64")).toBe(content);
      }
    }
  },
);

test("progress of a service is progress of the call, however its lines are cut", async () => {
  await using open = await withService("orpheus", async (_, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const lines = [
      { progress: 1, total: 2, message: "tokens — ♪" },
      { progress: 2, total: 2 },
    ];
    const all = [...lines, { result: { results: [{ content: sources.bytes }] } }];
    const bytes = Buffer.from(all.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (let at = 0; at < bytes.length; at += 7)
      if (!response.write(bytes.subarray(at, at + 7))) await once(response, "drain");
    response.end();
  });
  const seen: unknown[] = [];
  const data = await open.pack.call("orpheus.generate", {}, { onProgress: (one) => seen.push(one) });
  expect(data.artifacts).toHaveLength(1);
  expect(seen).toEqual([
    { progress: 1, total: 2, message: "tokens — ♪" },
    { progress: 2, total: 2 },
  ]);
});

test("cancelling the call closes the connection to the service", async () => {
  const arrived = Promise.withResolvers<void>();
  await using open = await withService("musicgen", (_, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" }).write('{"progress":1}\n');
    arrived.resolve();
  });
  const controller = new AbortController();
  const call = open.pack.call("musicgen.generate", { prompt: "x" }, { signal: controller.signal });
  await arrived.promise;
  controller.abort();
  expect((await call).failed).toBe("CANCELLED");
  await expect.poll(() => open.service.closed).toEqual(["/generate"]);
});

const BAD_ANSWERS: Readonly<Record<string, (response: import("node:http").ServerResponse) => void>> = {
  "an error status": (response) => response.writeHead(500, { "content-type": "application/json" }).end("{}"),
  "a page instead of JSON": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  "broken JSON": (response) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
  "no result": (response) => answer(response, { results: [] }),
  "a result that is not MIDI": (response) => answer(response, { results: [{ content: "AAAA" }] }),
  "a redirect": (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
  "a stream without an end": (response) =>
    response.writeHead(200, { "content-type": "application/x-ndjson" }).end('{"progress":1}\n'),
  "an error in the stream": (response) =>
    response
      .writeHead(200, { "content-type": "application/x-ndjson" })
      .end('{"error":{"message":"out of memory"}}'),
  "a closed connection": (response) => response.destroy(),
  "a connection that breaks within the answer": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
    response.write("{", () => response.destroy());
  },
};

test("whatever a service answers wrongly is UPSTREAM_ERROR, and nothing is stored", async () => {
  let wrong = BAD_ANSWERS["no result"];
  await using open = await withService("orpheus", (_, response) => wrong?.(response));
  for (const [name, given] of Object.entries(BAD_ANSWERS)) {
    wrong = given;
    expect(await open.pack.call("orpheus.generate", {}), name).toMatchObject({ failed: "UPSTREAM_ERROR" });
  }
  expect((await open.pack.call("artifact.list", { tags: ["model:orpheus"] })).artifacts).toEqual([]);
});
