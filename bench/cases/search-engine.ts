// The search engine without a server: the basis of the tools `search` and `code`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ParserPool, SearchEngine, type SourceFiles } from "@octant/search";
import type { Bench, Case } from "../case.ts";
import { interleave, type Spread } from "../measure.ts";
import { atLeast, atMost, type Bar, type Row } from "../row.ts";

const QUESTIONS = [
  "multiply the order and return the total",
  "the token of the queue",
  "how is the buffer of the user computed",
  "path index result entry",
];
const NAMES = ["order", "user12", "token1", "buf", "qeu", "total4"];
/** Some 50,000 chunks. */
const FILES_FOR_MEMORY = 4_400;
const EDITED_FILES = 1_000;

export const searchEngine: readonly Case[] = [
  {
    name: "index",
    async run({ tree }) {
      const folder = mkdtempSync(join(tree.root, "..", "index-"));
      await using engine = open(filesOf(tree.root), folder);
      const started = performance.now();
      const { files } = await engine.index({ signal: never() });
      const perSecond = (files / (performance.now() - started)) * 1_000;
      return figure(
        "index",
        "calls/s",
        perSecond,
        atLeast(300),
        `files a second, ${files} files, from nothing`,
      );
    },
  },
  {
    name: "index memory",
    async run({ tree }) {
      const { chunks, rss, peak } = indexApart(
        tree.root,
        filesOf(tree.root).paths.slice(0, FILES_FOR_MEMORY),
      );
      const note = `the most that a process held that indexed ${chunks} chunks and was asked; ${toMb(rss)} MB at the end`;
      return figure("index memory", "MB", toMb(peak), atMost(400), note);
    },
  },
  questionCase(
    "engine symbols",
    atMost(5),
    "names, beginnings, parts and letters in order",
    (engine, round) => engine.symbols(NAMES[round % NAMES.length] ?? "", { limit: 20 }),
  ),
  questionCase("engine query", atMost(60), "sentences, by words and meaning", (engine, round) =>
    engine.rank(QUESTIONS[round % QUESTIONS.length] ?? "", { strategies: ["text", "vector"], limit: 10 }),
  ),
  {
    name: "index update",
    async run({ tree }) {
      const { tell, ...files } = filesOf(tree.root);
      await using engine = open(files, sharedFolder(tree.root));
      await engine.index({ signal: never() });
      const edited = files.paths.slice(0, EDITED_FILES);
      for (const path of edited) {
        const file = join(tree.root, path);
        writeFileSync(file, `${readFileSync(file, "utf8")}\n// edited\n`);
      }
      const started = performance.now();
      tell(edited);
      await engine.settled();
      const ms = performance.now() - started;
      return figure("index update", "ms", ms, atMost(2_000), `${EDITED_FILES} files edited elsewhere`);
    },
  },
];

/** In a separate process: earlier work of this one must not count. */
function indexApart(root: string, paths: readonly string[]): { chunks: number; rss: number; peak: number } {
  const folder = mkdtempSync(join(root, "..", "index-"));
  const script = join(import.meta.dirname, "../index-process.js");
  const args = ["--conditions=built", script, root, folder, QUESTIONS[0] ?? ""];
  try {
    return JSON.parse(
      execFileSync(process.execPath, args, {
        input: JSON.stringify(paths),
        encoding: "utf8",
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const toMb = (bytes: number): number => Math.round(bytes / 2 ** 20);

function questionCase(
  name: string,
  bar: Bar,
  note: string,
  ask: (engine: SearchEngine, round: number) => Promise<readonly unknown[]>,
): Case {
  return {
    name,
    async run({ tree, effort, random }: Bench): Promise<Row> {
      await using engine = open(filesOf(tree.root), sharedFolder(tree.root));
      await engine.index({ signal: never() });
      const { octant } = await interleave(
        {
          octant: async (round) => {
            const started = performance.now();
            if ((await ask(engine, round)).length === 0) throw new Error(`${name}: nothing found`);
            return performance.now() - started;
          },
        },
        effort,
        random,
      );
      return { name, unit: "ms", octant, figure: octant.p50, bar, note };
    },
  };
}

/** The first case that needs it fills it; the others find it full. */
function sharedFolder(root: string): string {
  const folder = join(root, "..", "index-shared");
  mkdirSync(folder, { recursive: true });
  return folder;
}

function open(files: SourceFiles, folder: string): SearchEngine & AsyncDisposable {
  const parsers = new ParserPool(3);
  const engine = new SearchEngine({ files, folder, parsers, log: (line) => console.error(line) });
  return Object.assign(engine, {
    async [Symbol.asyncDispose]() {
      await engine.close();
      await parsers.close();
      if (!folder.endsWith("-shared")) rmSync(folder, { recursive: true });
    },
  });
}

function filesOf(root: string) {
  const paths = globSync("packages/*/src/**/*.*", { cwd: root }).sort();
  const stateOf = (path: string) => {
    const { size, mtimeMs } = statSync(join(root, path));
    return { path, size, mtimeMs };
  };
  let listener: (paths: readonly string[] | "unknown") => void = () => {};
  return {
    paths,
    async *list() {
      for (const path of paths) yield stateOf(path);
    },
    read(path: string) {
      const text = readFileSync(join(root, path), "utf8");
      const hash = `sha256:${createHash("sha256").update(text).digest("hex")}`;
      return { text, state: { ...stateOf(path), hash } };
    },
    onChange(told: typeof listener) {
      listener = told;
      return () => {};
    },
    tell: (changed: readonly string[]) => listener(changed),
  };
}

const never = () => new AbortController().signal;

function figure(name: string, unit: Row["unit"], value: number, bar: Bar, note: string): Row {
  const octant: Spread = { p50: value, p95: value, samples: 1 };
  return { name, unit, octant, figure: value, bar, note };
}
