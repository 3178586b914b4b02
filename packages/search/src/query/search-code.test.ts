import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FolderFiles, folderFiles } from "../../testing/engine/folder-files.ts";
import { ParserPool } from "../engine/parser-pool.ts";
import { isIn } from "../engine/scope.ts";
import { SearchEngine } from "../engine/search-engine.ts";
import type { Modality, SearchParts } from "./hit.ts";
import { searchCode } from "./search-code.ts";

let home: string;
let engine: SearchEngine;
const parsers = new ParserPool(1);
let parts: SearchParts;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "octant-query-"));
  for (const folder of ["code", "state"]) mkdirSync(join(home, folder));
  const files = folderFiles(join(home, "code"));
  files.write("src/header.ts", HEADER);
  files.write("src/server.ts", SERVER);
  files.write("src/gusts.ts", GUSTS);
  files.write("tests/header_test.ts", HEADER_TEST);
  files.write("src/sensors.py", "class Sensor:\n    pass\n\nclass Vane(Sensor):\n    kind = Sensor\n");
  files.write("src/Gauge.java", "public final class Gauge\n    extends Base\n    implements Sensor {\n}\n");
  files.write("docs/wind.md", "# Wind\n\nIt prints no wind today and calls parseHeader.\n");
  files.write("pkg/vane/vane.go", VANE);
  files.write("pkg/rose/rose.go", VANE.replace("package vane", "package rose"));
  files.write("lib/wind.py", "def measure_wind(sensor):\n    return sensor.speed  # parseHeader\n");
  for (let n = 0; n < 6; n++)
    files.write(`boats/crate${n}.ts`, `export function unload${n}(crate: Crate) {\n  crate.drop();\n}\n`);
  files.write("zone/anchor.ts", "export class Anchor {\n  drop() {\n    return 1;\n  }\n}\n");
  files.write("zone/harbour.ts", "export function moor(anchor: Anchor) {\n  anchor.drop();\n}\n");
  engine = new SearchEngine({ files, folder: join(home, "state"), parsers, log: () => {} });
  await engine.index({ signal: AbortSignal.timeout(60_000) });
  parts = { engine, grep: grepIn(files), paths: (signal) => pathsOf(files, signal) };
});

afterAll(async () => {
  await engine.close();
  await parsers.close();
  rmSync(home, { recursive: true });
});

const HEADER_TEST = `export function testHeader() {
  return parseHeader("x");
}
`;
const VANE = `package vane

func Turn(by int) int {
	if by == 0 {
		panic("no wind today")
	}
	return by
}
`;
const HEADER = `export function parseHeader(line: string) {
  return line.split(":");
}
export class Headers { parseHeader() { return parseHeader("x"); } }
`;
/** Sorts before the file with the function, and repeats its name often. */
const GUSTS = Array.from({ length: 9 }, (_, n) => `export const answer${n} = () => "answer";`).join("\n");
const SERVER = `import { parseHeader } from "./header.ts";
export function answer(request: string) {
  parseHeader(request);
  return parseHeader(request + "parseHeader");
}
`;

async function* pathsOf(files: FolderFiles, signal: AbortSignal) {
  for await (const { path } of files.list(signal)) yield path;
}

/** A small stand-in for ripgrep. */
const grepIn =
  (files: FolderFiles): SearchParts["grep"] =>
  async (text, { scope = "", signal }) =>
    (await Array.fromAsync(pathsOf(files, signal)))
      .filter((path) => isIn(scope, path))
      .flatMap((path) =>
        readFileSync(join(home, "code", path), "utf8")
          .split("\n")
          .flatMap((content, line) => {
            const col = content.indexOf(text);
            return col < 0
              ? []
              : [
                  {
                    path,
                    line: content,
                    range: { start: { line, col }, end: { line, col: col + text.length } },
                  },
                ];
          }),
      );

const search = (query: string, modality: Modality = "auto", scope?: string) =>
  searchCode(parts, { query, modality, scope, limit: 10, signal: AbortSignal.timeout(60_000) });
const places = async (...args: Parameters<typeof search>) =>
  (await search(...args)).map(({ path, symbol }) => `${path}#${symbol ?? ""}`);

test("'where is it defined' returns the definition and nothing else", async () => {
  expect(await places("where is Headers defined?")).toEqual(["src/header.ts#Headers"]);
  expect(await search("where is parseHeader defined?")).toMatchObject([
    { path: "src/header.ts", symbol: "parseHeader", why: [{ strategy: "symbol", rank: 1 }] },
    { symbol: "Headers.parseHeader" },
  ]);
});

test("'who calls it' returns each caller once, then other mentions", async () => {
  expect(await places("who calls parseHeader?")).toEqual([
    "src/header.ts#Headers.parseHeader",
    "src/server.ts#answer",
    "tests/header_test.ts#testHeader",
    "src/server.ts#",
  ]);
});

test("'who calls Class.method' finds the callers that know the class before those of other classes", async () => {
  // More callers of other classes than fit in the answer come first by path.
  const found = await searchCode(parts, {
    query: "who calls Anchor.drop?",
    modality: "auto",
    limit: 3,
    signal: AbortSignal.timeout(60_000),
  });
  expect(found.map(({ path, symbol }) => `${path}#${symbol}`)).toContain("zone/harbour.ts#moor");
  expect(found[0]).toMatchObject({ path: "zone/harbour.ts" });
});

test("'who calls it' returns the definition of a function without callers", async () => {
  expect(await places("who calls measure_wind?")).toEqual(["lib/wind.py#measure_wind"]);
});

test("'who implements it' returns the types that name it in their header", async () => {
  const found = await places("who implements Sensor?");
  expect(found).toEqual(expect.arrayContaining(["src/sensors.py#Vane", "src/Gauge.java#Gauge"]));
  expect(found).not.toContain("src/sensors.py#Sensor");
});

test("the words of a name return its definition first, in any style", async () => {
  const found = (await places("Parse header")).slice(0, 2);
  expect(found).toEqual(["src/header.ts#parseHeader", "src/header.ts#Headers.parseHeader"]);
  expect((await search("measure wind"))[0]).toMatchObject({
    symbol: "measure_wind",
    why: expect.arrayContaining([{ strategy: "symbol", rank: 1 }]),
  });
});

test("an identifier returns its definitions first, then its other occurrences", async () => {
  const hits = await search("parseHeader");
  expect(hits[0]).toMatchObject({
    symbol: "parseHeader",
    why: [
      { strategy: "symbol", rank: 1 },
      { strategy: "literal", rank: expect.any(Number) },
    ],
  });
  expect(hits.map(({ path }) => path)).toContain("lib/wind.py");
});

test("a sentence is searched by words and meaning, with a rank in each list", async () => {
  const [hit] = await search("how is the speed of the wind measured");
  expect(hit).toMatchObject({ path: "lib/wind.py", symbol: "measure_wind", kind: "function" });
  expect(hit?.why.map(({ strategy }) => strategy)).toContain("text");
  expect(hit?.hash).toMatch(/^sha256:/);
});

test("code with metavariables is searched by structure; code without, by structure and literally", async () => {
  expect(await search("$X.split($SEP)")).toMatchObject([
    { path: "src/header.ts", symbol: "parseHeader", why: [{ strategy: "ast", rank: 1 }] },
  ]);
  const [hit] = await search('line.split(":")');
  expect(hit?.why.map(({ strategy }) => strategy)).toEqual(["ast", "literal"]);
});

test("a path or a glob returns files", async () => {
  expect(await places("*.py")).toEqual(["lib/wind.py#", "src/sensors.py#"]);
  expect((await search("server.ts"))[0]).toMatchObject({ path: "src/server.ts", kind: "file", range: null });
});

test("a scope applies to every kind of search", async () => {
  for (const modality of ["auto", "text", "symbol", "vector"] as const)
    for (const { path } of await search("parseHeader", modality, "src/server.ts"))
      expect(path).toBe("src/server.ts");
  expect(await places("*.ts", "file", "lib")).toEqual([]);
});

test("a question that only looks like another kind falls back to a sentence search", async () => {
  expect((await places("where is wind defined"))[0]).toBe("lib/wind.py#measure_wind");
});

test("an explicit modality is the only one used", async () => {
  expect(
    (await search("header", "symbol")).flatMap(({ why }) => why.map(({ strategy }) => strategy)),
  ).not.toContain("literal");
  await expect(search("anything", "memory")).rejects.toMatchObject({ code: "UNSUPPORTED" });
  await expect(search("function (", "ast")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(await search("  ")).toEqual([]);
});

test("a symbol with the exact name comes first, wherever else the name occurs", async () => {
  const [first] = await searchCode(parts, {
    query: "answer",
    modality: "auto",
    limit: 100,
    signal: AbortSignal.timeout(60_000),
  });
  expect(first).toMatchObject({ path: "src/server.ts", symbol: "answer" });
});

test("a kind with a name returns the definition of that kind", async () => {
  expect((await places("class Headers"))[0]).toBe("src/header.ts#Headers");
  expect((await places("method parseHeader"))[0]).toBe("src/header.ts#Headers.parseHeader");
  expect((await places("function parseHeader"))[0]).toBe("src/header.ts#parseHeader");
});

test("modality symbol accepts the words of a name, and a sentence about its purpose", async () => {
  expect((await places("measure wind", "symbol"))[0]).toBe("lib/wind.py#measure_wind");
  expect((await places("how is the speed of the wind measured", "symbol"))[0]).toBe(
    "lib/wind.py#measure_wind",
  );
});

test("modality ast refuses prose and explains how to write a pattern", async () => {
  await expect(search("functions that return the speed", "ast")).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("$NAME"),
  });
});

test("a quoted text returns its literal occurrences, code before documentation", async () => {
  const [first, second, third] = await search('"no wind today"');
  expect([first?.path, second?.path]).toEqual(["pkg/rose/rose.go", "pkg/vane/vane.go"]);
  expect(third?.path).toBe("docs/wind.md");
});

test("a phrase in a string literal of code comes before similar code", async () => {
  const [first] = await search("no wind today");
  expect(first).toMatchObject({ path: "pkg/rose/rose.go", symbol: "Turn" });
  expect(first?.why[0]).toEqual({ strategy: "literal", rank: 1 });
});

test("a package qualifier selects among symbols of one name", async () => {
  expect((await places("vane.Turn"))[0]).toBe("pkg/vane/vane.go#Turn");
  expect((await places("rose.Turn"))[0]).toBe("pkg/rose/rose.go#Turn");
});

test("a misspelt name finds the symbol, also in a question for its definition", async () => {
  expect((await places("parsHaeder"))[0]).toBe("src/header.ts#parseHeader");
  expect((await places("where is parseHaeder defined"))[0]).toBe("src/header.ts#parseHeader");
});

test("a query by name lists symbols in the order of modality symbol, whatever the case", async () => {
  expect((await places("PARSEHEADER"))[0]).toBe("src/header.ts#parseHeader");
  const bySymbol = await places("parse", "symbol");
  expect((await places("parse")).slice(0, bySymbol.length)).toEqual(bySymbol);
});

test("the caller's other wordings find what the question has no word for", async () => {
  const { signal } = new AbortController();
  const first = async (query: string, also: readonly string[]) => {
    const [hit] = await searchCode(parts, { query, also, modality: "auto", limit: 5, signal });
    return hit?.symbol;
  };
  expect(await first("rotate something by an angle", [])).not.toBe("measure_wind");
  expect(await first("rotate something by an angle", ["measureWind", "speed of a sensor"])).toBe(
    "measure_wind",
  );
  // Nothing has this name, so that it may have another one.
  expect(await first("readHeaderLine", ["parse header"])).toBe("parseHeader");
  expect(await first("where is Vane defined?", ["parseHeader", "measure_wind"])).toBe("Vane");
});

test("symbols with one of the other names come after the name itself, and before similar names", async () => {
  const found = await engine.symbols("Sensor", { also: ["measureWind", "sensor"], limit: 3 });
  expect(found.map(({ path }) => path)).toEqual(["Sensor", "measure_wind"]);
});
