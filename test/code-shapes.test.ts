import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type CodeProject, openCodeProject, writeCompileCommands } from "./code-project.ts";
import { SHAPES, type Shape } from "./code-shapes.ts";

/** Programs that judge a rename; those that are not installed judge nothing. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "c++": "gcc",
  go: "golang-go",
  rustc: "cargo",
  python3: "python3",
};
const TSC = join(import.meta.dirname, "../node_modules/typescript/bin/tsc");
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  gopls: ["gopls", "golang-go"],
  clangd: ["clangd"],
};
const isMissing = (name: string) => inject("missing").includes(name);
const isHere = ({ server = "" }: Shape) => !NEEDED[server]?.some(isMissing);

/** Judged by the answers, not by their speed on a busy machine. */
const PATIENT_MS = 120_000;

/** A server on a project of this shape. */
function openShape({ files, server, language }: Shape): CodeProject {
  const template = mkdtempSync(join(tmpdir(), "octant-shape-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(template, name)), { recursive: true });
    writeFileSync(join(template, name), text);
  }
  const limits = { startMs: PATIENT_MS, firstAnswerMs: PATIENT_MS, answerMs: PATIENT_MS };
  const project = openCodeProject([template], { limits });
  rmSync(template, { recursive: true });
  if (language === "cpp" && server !== undefined) writeCompileCommands(project.roots[0]!, ["main", "price"]);
  return project;
}

interface Hit {
  readonly file: string;
  readonly line: number;
}

/** What grep finds, without ignored folders. */
function grepIn(root: string, pattern: string, ...flags: string[]): Hit[] {
  const args = [
    "-rno",
    "--exclude-dir=.venv",
    "--exclude=compile_commands.json",
    ...flags,
    "--",
    pattern,
    ".",
  ];
  try {
    const found = execFileSync("grep", args, { cwd: root, encoding: "utf8" });
    return found
      .trim()
      .split("\n")
      .map((row) => row.split(":"))
      .map(([file = "", line]) => ({ file: file.replace(/^\.\//, ""), line: Number(line) }));
  } catch {
    // grep found nothing.
    return [];
  }
}

interface Place {
  readonly uri: string;
  readonly range: { readonly start: { readonly line: number; readonly col: number } };
}

/** The text at a place, as long as the symbol. */
function textAt({ symbol }: Shape, { uri, range: { start } }: Place): string {
  const line = readFileSync(new URL(uri), "utf8").split("\n")[start.line]!;
  return line.slice(start.col, start.col + symbol.length);
}

describe.each(SHAPES.filter(isHere))("$name", (shape) => {
  const { symbol, server, files } = shape;
  let project: CodeProject;
  beforeAll(() => {
    project = openShape(shape);
  });
  afterAll(() => project[Symbol.asyncDispose]());
  const root = () => project.roots[0]!;
  const grep = (pattern: string, ...flags: string[]) => grepIn(root(), pattern, ...flags);
  const words = () => grep(symbol, "-wF");
  const inCode = (hits: readonly Hit[]) => hits.filter(({ file }) => shape.code.test(file));
  const toHit = ({ uri, range }: Place): Hit => ({
    file: decodeURI(uri).slice(`file://${root()}/`.length),
    line: range.start.line + 1,
  });
  const ask = async (action: string, input: object) => {
    const answer = await project.call("code", action, input);
    expect(answer.error).toBeNull();
    expect(answer.meta.backend).toEqual(expect.any(String));
    return answer;
  };
  const uriOf = (file: string) => join(root(), file);
  /** The definition is the first use that is not in a comment. */
  const definedAt = () => {
    const lines = files[shape.defined]!.split("\n");
    const line = lines.findIndex((one) => one.includes(symbol) && !/^\s*(?:\/\/|\/\*|#)/.test(one));
    return { line, col: lines[line]!.indexOf(symbol) };
  };
  const spot = () => ({ uri: uriOf(shape.defined), position: definedAt() });
  const expectBackend = ({ meta, data }: { meta: { backend: string }; data: { note?: string } }) => {
    expect(meta.backend).toBe(server ?? "tree-sitter");
    if (server === undefined) expect(data.note).toContain("matched by name");
  };

  test("references and everything that is said not to be one make up what grep finds", async () => {
    const answer = await ask("references", { ...spot(), limit: 200 });
    expectBackend(answer);
    const { results, by_name, not_listed = {} } = answer.data;
    const listed = [...results, ...(by_name?.results ?? [])].filter(
      (place) => textAt(shape, place) === symbol,
    );
    expect(listed).toHaveLength(shape.uses);
    const found = words();
    const others = (not_listed.other_symbols ?? 0) + (not_listed.in_text ?? 0);
    expect(listed.length + others).toBe(inCode(found).length);
    const elsewhere = found.filter(({ file }) => !shape.code.test(file)).map(({ file }) => uriOf(file));
    expect(new Set((not_listed.files ?? []).map((uri: string) => new URL(uri).pathname))).toEqual(
      new Set(elsewhere),
    );
  });

  test("callers are those around the calls that grep finds", async () => {
    const answer = await ask("calls", spot());
    expectBackend(answer);
    const rows = [...answer.data.results, ...(answer.data.by_name?.results ?? [])];
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(shape.callers));
    const called = rows.flatMap(({ calls }) => calls).map((call: Place) => toHit(call));
    for (const hit of called) expect(words()).toContainEqual(hit);
  });

  test("the definition of a use elsewhere is where grep finds it, and hover shows it", async () => {
    const { results } = (await ask("references", { ...spot(), limit: 200 })).data;
    const use = results.find(
      (place: Place) => textAt(shape, place) === symbol && toHit(place).file !== shape.defined,
    );
    const at = { uri: use.uri, position: use.range.start };
    const { results: found } = (await ask("definition", at)).data;
    const isDefinition = (place: Place) =>
      toHit(place).line === definedAt().line + 1 && toHit(place).file === shape.defined;
    expect(found.some((place: Place) => isDefinition(place) || place.uri.endsWith(".h"))).toBe(true);
    expect((await ask("hover", at)).data.text).toContain(symbol);
  });

  test("the symbol is found by name, in its outline, and completed", async () => {
    const { results } = (await ask("search_symbol", { query: symbol, scope: root() })).data;
    expect(results[0]).toMatchObject({ name: symbol });
    const { results: own } = (await ask("outline", { uri: uriOf(shape.defined) })).data;
    expect(own.map(({ name }: { name: string }) => name)).toContain(symbol);
    for (const place of own) expect(textOfLine(place)).toContain(place.name);
    const [use] = inCode(grep(`${symbol}(`, "-F")).filter(({ file }) => file !== shape.defined);
    const uri = uriOf(use!.file);
    const line = readFileSync(uri, "utf8").split("\n")[use!.line - 1]!;
    const position = { line: use!.line - 1, col: line.indexOf(`${symbol}(`) + 3 };
    const labels = (await ask("completion", { uri, position, limit: 500 })).data.results;
    expect(labels.map(({ label }: { label: string }) => label.trim().replace(/\W.*$/, ""))).toContain(
      symbol.replace(/\W/, ""),
    );
  });

  test("every file in which grep finds a call is matched by structure, or named", async () => {
    const { call: pattern, language } = shape;
    const { results, words_only = [] } = (
      await ask("search_ast", { pattern, language, scope: root(), limit: 200 })
    ).data;
    const seen = new Set(
      [...results.map(({ uri }: Place) => uri), ...words_only].map((uri) => new URL(uri).pathname),
    );
    for (const { file } of inCode(grep(`${symbol}(`, "-F"))) expect(seen).toContain(uriOf(file));
  });

  test("valid code has no errors, the answer says what was checked, and broken code has a problem", async () => {
    const uri = uriOf(shape.defined);
    const right = readFileSync(uri, "utf8");
    const fine = (await ask("diagnostics", { uri })).data;
    expect(fine.results.filter(({ severity }: { severity: string }) => severity === "error")).toEqual([]);
    expect(fine.checked).toBe(shape.checked);
    expect(fine.note === undefined).toBe(shape.checked === "all");
    try {
      writeFileSync(uri, `${right}\n(((\n`);
      expect((await ask("diagnostics", { uri })).data.total).toBeGreaterThan(0);
    } finally {
      writeFileSync(uri, right);
    }
  });

  test("a file is formatted by its server, or the answer says how to get that", async () => {
    const { error, meta } = await project.call("code", "format", {
      uri: uriOf(shape.defined),
      dry_run: true,
    });
    if (error) expect(error).toMatchObject({ code: "UNSUPPORTED", details: { how: expect.any(String) } });
    else expect(meta.backend).toBe(server ?? "clangd");
  });

  // The last one: it changes the files.
  test("a rename reaches every use, or is refused until it goes by name, and the project still builds", async () => {
    const input = { ...spot(), new_name: shape.newName };
    const first = await project.call("code", "rename", { ...input, dry_run: !shape.renames });
    if (!shape.renames)
      expect(first.error?.code).toBe(
        server === undefined && shape.language !== "cpp" ? "UNSUPPORTED" : "CONFIRM_REQUIRED",
      );
    const { error, data } = shape.renames
      ? first
      : await project.call("code", "rename", { ...input, by: "name" });
    expect(error).toBeNull();
    expect(data.diagnostics ?? []).toEqual([]);
    const renamed = inCode(grep(shape.newName, "-wF"));
    expect(renamed.length).toBeGreaterThanOrEqual(shape.uses);
    build(shape, root());
  });
});

const textOfLine = ({ uri, range }: Place) =>
  readFileSync(new URL(uri), "utf8")
    .split("\n")
    .slice(range.start.line, range.start.line + 3)
    .join("\n");

function build(shape: Shape, root: string): void {
  const [program = "", ...args] = shape.builds ?? [];
  if (program === "" || isMissing(PROGRAMS[program] ?? "")) return;
  const argv = program === "tsc" ? ([process.execPath, [TSC, ...args]] as const) : ([program, args] as const);
  execFileSync(argv[0], argv[1], { cwd: root, stdio: "pipe" });
}
