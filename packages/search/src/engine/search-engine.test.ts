import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, inject, test } from "vitest";
import { type FolderFiles, folderFiles } from "../../testing/engine/folder-files.ts";
import { writeOnnxFolder } from "../../testing/vector/onnx-folder.ts";
import type { Embedder } from "../vector/embedder.ts";
import { createOnnxEmbedder } from "../vector/onnx-embedder.ts";
import { packVector, unpackVector } from "../vector/vector-store.ts";
import { ParserPool } from "./parser-pool.ts";
import { SearchEngine } from "./search-engine.ts";

let home: string;
let files: FolderFiles;
const engines: SearchEngine[] = [];
const logged: string[] = [];
// Starting parsers takes longer than most tests; the front-door tests start their own.
const parsers = new ParserPool(2);
afterAll(() => parsers.close());

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "octant-search-"));
  for (const folder of ["code", "state"]) mkdirSync(join(home, folder));
  files = folderFiles(join(home, "code"));
  files.write("src/http/header.ts", HEADER);
  files.write("src/retry.py", RETRY);
  files.write("README.md", "# Weather station\n\nMeasures the wind.\n");
});

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  rmSync(home, { recursive: true });
  expect(logged.splice(0)).toEqual([]);
});

const HEADER = `/** Splits a header line into its name and value. */
export function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1)];
}
export class HeaderList {
  append(name: string) { return name; }
}
`;
const RETRY = `def retry_with_backoff(attempts):
    """Waits longer after each failure."""
    for attempt in range(attempts):
        sleep(2 ** attempt)
`;

const WIND = `export function windChill(temperature: number, speed: number) {
  const wind = speed ** 0.16;
  return 13.12 + 0.6215 * temperature - 11.37 * wind + 0.3965 * temperature * wind;
}
`;

function start(
  options: { files?: FolderFiles; embedder?: Embedder; vectorStore?: "lancedb" } = {},
): SearchEngine {
  const engine = new SearchEngine({
    files: options.files ?? files,
    parsers,
    folder: join(home, "state"),
    embedder: options.embedder,
    vectorStore: options.vectorStore,
    log: (line) => logged.push(line),
  });
  engines.push(engine);
  return engine;
}

const never = () => new AbortController().signal;
const both = { strategies: ["text", "vector"], limit: 5 } as const;
const found = async (engine: SearchEngine, query: string, scope?: string) =>
  (await engine.rank(query, { ...both, scope })).map(({ file, symbol }) => `${file}#${symbol?.path ?? ""}`);
const named = async (engine: SearchEngine, name: string) =>
  (await engine.symbols(name, { limit: 10 })).map(({ file, path }) => `${file}#${path}`);

test("indexed code is found by its words, its name and its file", async () => {
  const engine = start();
  expect(await engine.index({ signal: never() })).toMatchObject({ files: 3, read: 3 });
  expect((await found(engine, "split the header line"))[0]).toBe("src/http/header.ts#parseHeader");
  expect((await found(engine, "measure the wind"))[0]).toBe("README.md#");
  expect(await named(engine, "HeaderList.append")).toContain("src/http/header.ts#HeaderList.append");
  expect((await engine.outline("src/retry.py")).map(({ path }) => path)).toEqual(["retry_with_backoff"]);
  expect(await engine.status()).toMatchObject({ files: 3, state: "fresh" });
});

test("a scope restricts the results to a folder", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  expect(await found(engine, "header line attempts", "src/http")).not.toContain(
    "src/retry.py#retry_with_backoff",
  );
  expect(await found(engine, "header line attempts", "src/retry.py")).toEqual([
    "src/retry.py#retry_with_backoff",
  ]);
});

test("only files whose bytes have changed are parsed again", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  expect(await engine.index({ signal: never() })).toMatchObject({ files: 3, read: 0 });
  utimesSync(join(home, "code/README.md"), 1, 1);
  files.write("src/retry.py", RETRY.replace("retry_with_backoff", "try_again_and_again"));
  const before = await engine.status();
  expect(await engine.index({ signal: never() })).toMatchObject({ read: 1, chunks: before.chunks });
  expect(await named(engine, "retry_with_backoff")).toEqual([]);
  expect(await named(engine, "try_again_and_again")).toEqual(["src/retry.py#try_again_and_again"]);
  expect(await engine.index({ signal: never() })).toMatchObject({ read: 0 });
});

test("a removed file is no longer found by any kind of search", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  files.remove("src/http");
  await engine.index({ signal: never() });
  expect((await found(engine, "header colon")).join()).not.toContain("src/http");
  expect(await named(engine, "parseHeader")).toEqual([]);
  expect(await engine.status()).toMatchObject({ files: 2 });
});

test("no term that only a removed file had stays in the index files", async () => {
  for (let n = 0; n < 1_100; n++) files.write(`many/f${n}.ts`, `export function part${n}() {}\n`);
  files.write("src/token.ts", 'export function tokenOf() {\n  return "zanzibarcanary";\n}\n');
  const engine = start();
  await engine.index({ signal: never() });
  const stored = () =>
    readdirSync(join(home, "state")).some(
      (name) =>
        readFileSync(join(home, "state", name)).includes("zanzibarcanari") ||
        readFileSync(join(home, "state", name)).includes("zanzibarcanary"),
    );
  expect(stored()).toBe(true);
  files.remove("src/token.ts");
  await engine.index({ signal: never() });
  expect(stored()).toBe(false);
  expect(await named(engine, "part7")).toContain("many/f7.ts#part7");
});

test("the index follows reported changes: new, changed and removed files, and whole folders", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  files.write("src/new.go", "package p\n\nfunc DecodeFrame(b []byte) int { return 1 }\n");
  files.write("src/retry.py", "def other(): pass\n");
  files.remove("src/http");
  files.report(["src/new.go", "src/retry.py"]);
  files.report(["src/http"]);
  await engine.settled();
  expect(await named(engine, "DecodeFrame")).toEqual(["src/new.go#DecodeFrame"]);
  expect(await named(engine, "retry_with_backoff")).toEqual([]);
  expect(await named(engine, "parseHeader")).toEqual([]);
  expect(await engine.status()).toMatchObject({ files: 3, state: "fresh" });
});

test("an unknown change makes the index compare every file", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  files.write("late.ts", "export function lateComer() {}\n");
  files.report("unknown");
  await engine.settled();
  expect(await named(engine, "lateComer")).toEqual(["late.ts#lateComer"]);
});

test("after a restart queries work before indexing starts again", async () => {
  const first = start();
  await first.index({ signal: never() });
  await first.close();
  const second = start({ files: folderFiles(join(home, "code")) });
  expect(await named(second, "parseHeader")).toEqual(["src/http/header.ts#parseHeader"]);
  expect((await found(second, "split the header line"))[0]).toBe("src/http/header.ts#parseHeader");
  expect(await second.status()).toMatchObject({ state: "stale", files: 3 });
});

test("two servers share an index: each finds what the other wrote", async () => {
  const [one, other] = [start(), start({ files: folderFiles(join(home, "code")) })];
  await Promise.all([one.index({ signal: never() }), other.index({ signal: never() })]);
  expect(await named(other, "parseHeader")).toHaveLength(1);
  const hits = await found(other, "header colon");
  expect(hits).toHaveLength(new Set(hits).size);
  files.write("more.ts", "export function measureHumidity(sensor: number) { return sensor; }\n");
  files.remove("src/retry.py");
  await one.index({ signal: never() });
  expect(await found(other, "measure humidity")).toContain("more.ts#measureHumidity");
  expect(await named(other, "humid")).toEqual(["more.ts#measureHumidity"]);
  expect(await named(other, "retry_with_backoff")).toEqual([]);
});

test("a cancelled indexing run stops, and the next one finishes the work", async () => {
  for (let n = 0; n < 200; n++) files.write(`many/file-${n}.ts`, HEADER);
  const engine = start();
  const stop = new AbortController();
  const reason = new Error("enough");
  const cancelled = engine.index({ signal: stop.signal, progress: () => stop.abort(reason) });
  await expect(cancelled).rejects.toBe(reason);
  expect(await engine.index({ signal: never() })).toMatchObject({ files: 203 });
  expect(await engine.status()).toMatchObject({ files: 203, state: "fresh" });
});

test("when one of two waiting callers gives up, the other still gets its index", async () => {
  for (let n = 0; n < 50; n++) files.write(`many/file-${n}.ts`, HEADER);
  const engine = start();
  const stop = new AbortController();
  const first = engine.index({ signal: stop.signal, progress: () => stop.abort(new Error("enough")) });
  const second = engine.index({ signal: never() });
  await expect(first).rejects.toThrow("enough");
  expect(await second).toMatchObject({ files: 53 });
});

test("closing during indexing leaves an index that can be opened", async () => {
  for (let n = 0; n < 200; n++) files.write(`many/file-${n}.ts`, HEADER);
  const first = start();
  const cut = first.index({
    signal: never(),
    progress: ({ progress }) => progress === 60 && void first.close(),
  });
  await expect(cut).rejects.toThrow("closed");
  expect(await start().index({ signal: never() })).toMatchObject({ files: 203 });
});

test("files that are not code, or are broken or empty, are searched by their lines or skipped", async () => {
  files.write("broken.ts", "function whole() {}\nexport function half( {{{ ][\n");
  files.write("empty.py", "");
  files.write("odd.go", "\u0000\u0001 \ufffd func");
  files.write("lines.txt", "the barometer falls\n".repeat(3));
  const engine = start();
  expect(await engine.index({ signal: never() })).toMatchObject({ files: 7 });
  expect((await found(engine, "barometer"))[0]).toBe("lines.txt#");
  expect(await named(engine, "whole")).toEqual(["broken.ts#whole"]);
});

test("a damaged index file is rebuilt", async () => {
  writeFileSync(join(home, "state/search.sqlite"), "this is not a database".repeat(500));
  const engine = start();
  await engine.index({ signal: never() });
  expect(await named(engine, "parseHeader")).toHaveLength(1);
});

test("pages damaged while the engine runs are reported, and the index is rebuilt", async () => {
  for (let n = 0; n < 200; n++) files.write(`many/file-${n}.ts`, `export function helper${n}() {}\n`);
  const first = start();
  await first.index({ signal: never() });
  await first.close();
  const file = join(home, "state/search.sqlite");
  const bytes = readFileSync(file);
  // The first page holds the schema, so the file still opens.
  writeFileSync(file, bytes.fill(0xa5, 4096));
  const engine = start();
  await engine.index({ signal: never() });
  expect(await named(engine, "helper7")).toContain("many/file-7.ts#helper7");
  expect((await engine.progress()).state).toBe("fresh");
  expect(new Set(logged.splice(0))).toEqual(new Set(["the search index was damaged and is being rebuilt"]));
});

test("with an unwritable state folder the index stays in memory", async () => {
  mkdirSync(join(home, "state/search.sqlite"), { recursive: true });
  const engine = start();
  await engine.index({ signal: never() });
  expect(await named(engine, "parseHeader")).toHaveLength(1);
  expect(logged.splice(0)).toEqual([expect.stringContaining("held in memory until the next start")]);
});

test("an external model embeds texts and questions; another model starts a new index", async () => {
  const asked: string[] = [];
  const about = (id: string): Embedder => ({
    id,
    embed: async (texts, role) => {
      asked.push(...texts.map((text) => `${id} ${role} ${text.split("\n")[0]}`));
      return texts.map((text) =>
        Float32Array.of(/wind|storm/.test(text) ? 1 : 0, /wind|storm/.test(text) ? 0 : 1),
      );
    },
    close: async () => {},
  });
  const first = start({ embedder: about("one") });
  await first.index({ signal: never() });
  const [hit] = await first.rank("storm", { strategies: ["vector"], limit: 1 });
  expect(hit).toMatchObject({ file: "README.md", why: [{ strategy: "vector", rank: 1 }] });
  await first.close();
  asked.length = 0;
  const second = start({ embedder: about("two") });
  await second.index({ signal: never() });
  expect(asked).toContain("two passage src/http/header.ts HeaderList.append");
});

/** Forty documented functions, no two alike. */
const writeMany = () => {
  const [verbs, things] = [
    ["parse", "encode", "delete", "merge", "print"],
    "header token socket window folder matrix invoice packet".split(" "),
  ];
  for (const thing of things)
    files.write(
      `lib/${thing}.ts`,
      verbs
        .map(
          (verb) =>
            `/** Will ${verb} one ${thing} of the many. */\nexport function ${verb}${thing}(x: number) {\n  return x;\n}\n`,
        )
        .join(""),
    );
};
/** Random vectors that do not depend on the text. */
const randomModel = (): Embedder => {
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  return {
    id: "random",
    embed: async (texts) => texts.map(() => Float32Array.from({ length: 64 }, next)),
    close: async () => {},
  };
};
/** Each word has a dimension of its own. */
const wordModel = (): Embedder => {
  const dimensions = new Map<string, number>();
  const place = (text: string) => {
    const vector = new Float32Array(512);
    for (const word of text
      .toLowerCase()
      .match(/parse|encode|delete|merge|print|header|token|socket|window|folder|matrix|invoice|packet/g) ??
      []) {
      if (!dimensions.has(word)) dimensions.set(word, dimensions.size);
      vector[dimensions.get(word) ?? 0] = 1;
    }
    return vector;
  };
  return { id: "words", embed: async (texts) => texts.map(place), close: async () => {} };
};
const QUESTIONS = ["merge one window", "delete a token", "print the invoice", "how is a packet encoded"];

test("a model that finds nothing in this index does not change the answers by words", async () => {
  writeMany();
  const model = randomModel();
  const engine = start({ embedder: model });
  await engine.index({ signal: never() });
  for (const question of QUESTIONS)
    expect(await engine.rank(question, both)).toEqual(
      await engine.rank(question, { ...both, strategies: ["text"] }),
    );
  await engine.close();
  expect(logged.splice(0)).toEqual(["the model random finds too little here: answers are by words alone"]);
  // The measured weight is in the index: the next start asks only the question.
  let texts = 0;
  const counted: Embedder = {
    ...model,
    embed: (asked, ...how) => {
      texts += asked.length;
      return model.embed(asked, ...how);
    },
  };
  const again = start({ embedder: counted });
  await again.index({ signal: never() });
  const [hit] = await again.rank("merge one window", both);
  expect(hit?.symbol?.name).toBe("mergewindow");
  expect(hit?.why).toEqual([{ strategy: "text", rank: 1 }]);
  expect(texts).toBe(1);
});

test("a model that finds what the word table finds takes part in the answer", async () => {
  writeMany();
  const engine = start({ embedder: wordModel() });
  await engine.index({ signal: never() });
  const [hit] = await engine.rank("merge one window", both);
  expect(hit?.symbol?.name).toBe("mergewindow");
  expect(hit?.why.map(({ strategy }) => strategy)).toEqual(["text", "vector"]);
});

const ENGINES = ["@lancedb/lancedb", "onnxruntime-node"];
test.skipIf(inject("missing").some((name) => ENGINES.includes(name))).each([undefined, "lancedb"] as const)(
  "a model on this machine is asked in a thread, its vectors are kept by the store: %s",
  async (vectorStore) => {
    const folder = join(home, "model");
    // The only meaning this model knows is that a storm is like the wind.
    writeOnnxFolder(folder, { words: { wind: [1, 0], storm: [1, 0], header: [0, 1], attempt: [0, 1] } });
    const embedder = createOnnxEmbedder({ folder });
    const engine = start({ embedder, vectorStore });
    await engine.index({ signal: never() });
    const [hit] = await engine.rank("storm", { strategies: ["vector"], limit: 1 });
    expect(hit).toMatchObject({ file: "README.md", why: [{ strategy: "vector", rank: 1 }] });
    expect(await engine.status()).toMatchObject({ embedder: embedder.id });
    await embedder.close();
  },
);

test.skipIf(inject("missing").includes("@lancedb/lancedb"))(
  "no vector of a removed file stays in the folder of LanceDB",
  async () => {
    const secret = Float32Array.from({ length: 16 }, (_, at) => Math.cos(at));
    const embedder: Embedder = {
      id: "marked",
      embed: async (texts) =>
        texts.map((text) => (text.includes("zanzibar") ? secret : Float32Array.of(1, ...Array(15).fill(0)))),
      close: async () => {},
    };
    files.write("src/token.ts", 'export function tokenOf() {\n  return "zanzibar";\n}\n');
    const engine = start({ embedder, vectorStore: "lancedb" });
    await engine.index({ signal: never() });
    const ask = () => engine.rank("zanzibar", { strategies: ["vector"], limit: 1 });
    const marked = Buffer.from(unpackVector(packVector(secret)).buffer);
    const stored = () =>
      globSync(join(home, "state/lance-*/**/*.lance")).some(
        (file) => statSync(file).isFile() && readFileSync(file).includes(marked),
      );
    expect((await ask())[0]?.file).toBe("src/token.ts");
    expect(stored()).toBe(true);
    files.remove("src/token.ts");
    await engine.index({ signal: never() });
    expect(stored()).toBe(false);
    expect((await ask())[0]?.file).not.toBe("src/token.ts");
    expect(stored()).toBe(false);
  },
);

const all = async <T>(items: AsyncIterable<T>) => Array.fromAsync(items);

test("structural search reads the current files, by language and scope", async () => {
  files.write("src/late.js", "class Header { parse(line) { return split(line, ':'); } }\n");
  files.write("data.yaml", "split: line\n");
  const { syntax } = start();
  const query = { signal: never(), pattern: "$A.slice($$$B)" };
  const [found] = await all(syntax.structures(query));
  expect(found).toMatchObject({ path: "src/http/header.ts", hash: expect.stringMatching(/^sha256:/) });
  expect(found?.found.map(({ text }) => text)).toEqual(["line.slice(0, colon)", "line.slice(colon + 1)"]);
  expect(await all(syntax.structures({ ...query, scope: "src/late.js" }))).toEqual([]);
  expect(await all(syntax.structures({ ...query, pattern: "split(line, $S)" }))).toHaveLength(1);
  await expect(all(syntax.structures({ ...query, pattern: "function (" }))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  await expect(all(syntax.structures({ ...query, language: "cobol" }))).rejects.toThrow(
    "no grammar for 'cobol'",
  );
});

test("occurrences of a name are found without an index", async () => {
  files.write(
    "src/use.ts",
    "import { parseHeader } from './http/header';\nconst go = () => parseHeader('a');\n",
  );
  const found = await all(start().syntax.occurrences({ name: "parseHeader", signal: never() }));
  expect(found.map(({ path, found: places }) => [path, places.map(({ role }) => role)])).toEqual([
    ["src/http/header.ts", ["definition"]],
    ["src/use.ts", ["use", "call"]],
  ]);
});

test("files needed by a query are indexed before the others, and only once", async () => {
  const engine = start();
  await engine.indexFirst(["src/retry.py"], never());
  expect(await engine.status()).toMatchObject({ state: "stale", files: 1, total: null });
  expect((await found(engine, "wait longer after a failure"))[0]).toBe("src/retry.py#retry_with_backoff");
  await engine.index({ signal: never() });
  expect(await engine.status()).toMatchObject({ state: "fresh", files: 3, total: 3 });
});

test("without time, only the files that a query needs most are indexed, and the others are named", async () => {
  const engine = start();
  const asked = await engine.indexFirst(["src/retry.py", "README.md"], AbortSignal.abort(), 1);
  expect(asked).toMatchObject({ hasChanged: true, left: new Set(["README.md"]) });
  expect([...asked.hashes.keys()]).toEqual(["src/retry.py", "README.md"]);
  expect(await engine.status()).toMatchObject({ files: 1 });
});

test("while a query looks for its files, the background reads none", async () => {
  const engine = start();
  const looking = Promise.withResolvers<void>();
  const held = engine.holding(looking.promise);
  const listed = Promise.withResolvers<void>();
  const indexed = engine.index({ signal: never(), progress: () => listed.resolve() });
  await listed.promise;
  await engine.progress();
  expect(files.reads).toEqual([]);
  looking.resolve();
  await held;
  expect(await indexed).toMatchObject({ read: 3 });
});

test("a query learns whether the files it found have changed, and changes reported later still count", async () => {
  const engine = start();
  await engine.index({ signal: never() });
  const paths = ["src/retry.py", "README.md", "gone.ts"];
  expect(await engine.indexFirst(paths, never())).toMatchObject({ hasChanged: false });
  const [second, third] = ["second_attempt", "third_attempt"].map((name) =>
    RETRY.replace("retry_with_backoff", name),
  );
  files.write("src/retry.py", second ?? "");
  expect(await engine.indexFirst(paths, never())).toMatchObject({ hasChanged: true });
  expect(await named(engine, "second_attempt")).toEqual(["src/retry.py#second_attempt"]);
  for (const text of [third, second]) {
    files.write("src/retry.py", text ?? "");
    files.report(["src/retry.py"]);
    await engine.settled();
  }
  expect(await named(engine, "second_attempt")).toEqual(["src/retry.py#second_attempt"]);
});

test("where the system reports no changes, a query has all files checked", async () => {
  const engine = start({ files: { ...files, poll: () => files.report("unknown") } });
  await engine.index({ signal: never() });
  files.write("src/retry.py", RETRY.replace("retry_with_backoff", "second_attempt"));
  engine.poll();
  expect(await engine.progress()).toMatchObject({ state: "indexing" });
  await engine.settled();
  expect(await named(engine, "second_attempt")).toEqual(["src/retry.py#second_attempt"]);
});

test("a stopped indexing run keeps its progress, and the next one continues from there", async () => {
  for (let n = 0; n < 200; n++) files.write(`many/f${n}.ts`, HEADER.replaceAll("Header", `Header${n}`));
  const first = start();
  const stop = new AbortController();
  const run = first.index({ signal: stop.signal, progress: ({ progress }) => progress > 20 && stop.abort() });
  await expect(run).rejects.toThrow();
  await first.close();
  const second = start();
  const { files: done } = await second.status();
  expect(done).toBeGreaterThan(20);
  expect(await second.index({ signal: never() })).toMatchObject({ files: 203, read: 203 - done });
});

test("two fresh indexes of one tree return the same list, in whatever order the files arrived", async () => {
  for (let n = 0; n < 120; n++)
    files.write(`many/f${n}.ts`, HEADER.replaceAll("Header", n % 3 === 0 ? "Twin" : `Header${n}`));
  const listFrom = async (folder: string) => {
    const engine = new SearchEngine({ files, parsers, folder, log: (line) => logged.push(line) });
    engines.push(engine);
    await engine.index({ signal: never() });
    const hits = await engine.rank("split a line at the colon", {
      strategies: ["text", "vector"],
      limit: 60,
    });
    return hits.map(({ file, firstLine, score }) => `${file}:${firstLine} ${score.toFixed(9)}`);
  };
  mkdirSync(join(home, "other"));
  const engine = start();
  // One of the two starts with the last files.
  await engine.indexFirst(["many/f99.ts", "many/f98.ts"], never());
  await engine.close();
  expect(await listFrom(join(home, "state"))).toEqual(await listFrom(join(home, "other")));
});

test("files indexed while queries run rank as they do after a restart", async () => {
  const scoresOf = async (engine: SearchEngine) => {
    const hits = await engine.rank("split the header line", { strategies: ["text", "vector"], limit: 20 });
    return hits.map(({ file, firstLine, score }) => `${file}:${firstLine} ${score.toFixed(9)}`);
  };
  const first = start();
  await first.warm();
  const all: string[] = [];
  for await (const { path } of files.list(never())) all.push(path);
  await first.indexFirst(all, never());
  const during = await scoresOf(first);
  expect(during.length).toBeGreaterThan(1);
  await first.close();
  expect(await scoresOf(start())).toEqual(during);
});

test("tests rank below the code they are about", async () => {
  files.write("src/wind.ts", WIND);
  files.write("src/a.test.ts", WIND);
  const engine = start();
  await engine.index({ signal: never() });
  const hits = await found(engine, "how cold the wind makes a temperature feel");
  expect(hits.slice(0, 2)).toEqual(["src/wind.ts#windChill", "src/a.test.ts#windChill"]);
});

test("a file indexed twice at the same time is found once, and nothing is lost", async () => {
  const paths = Array.from({ length: 90 }, (_, n) => `many/f${n}.ts`);
  for (const [n, path] of paths.entries()) files.write(path, HEADER.replaceAll("Header", `Header${n}`));
  const engine = start();
  await engine.warm();
  await Promise.all([
    engine.index({ signal: never() }),
    engine.indexFirst(paths, never()),
    engine.indexFirst(paths.toReversed(), never()),
  ]);
  const hits = await engine.rank("split a header line at the colon", { ...both, limit: 60 });
  const listed = hits.map(({ file, firstLine }) => `${file}:${firstLine}`);
  expect(new Set(listed).size).toBe(60);
  expect(Math.min(...hits.flatMap(({ why }) => why.map(({ rank }) => rank)))).toBe(1);
});
