// The first query on a fresh workspace, as a person runs it: one command after the other, on the defaults.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOctant } from "./octant-process.ts";

const FILES = 1_600;
/** Enough that no machine indexes all of them while the first query waits. */
const FUNCTIONS_PER_FILE = 24;

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-first-")));
const project = join(base, "project");
const env = { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state") };

beforeAll(() => {
  mkdirSync(join(project, ".git"), { recursive: true });
  for (let file = 0; file < FILES; file++) {
    const folder = join(project, `part${file % 40}`);
    mkdirSync(folder, { recursive: true });
    const functions = Array.from(
      { length: FUNCTIONS_PER_FILE },
      (_, n) =>
        `export function step${file}x${n}(input: number[], offset = ${n}) {\n  const total = input.reduce((sum, each) => sum + each * offset, ${file});\n  return total > offset ? total - offset : total;\n}\n`,
    );
    writeFileSync(join(folder, `module${file}.ts`), functions.join("\n"));
  }
  // After all others, in any indexing order.
  mkdirSync(join(project, "zzz"));
  writeFileSync(
    join(project, "zzz/kettle.ts"),
    "export function boilWater(kettle: Kettle) {\n  kettle.heatUntil(100);\n  return kettle.pour();\n}\n",
  );
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

// biome-ignore lint/suspicious/noExplicitAny: the data of search.query, as JSON has it.
const ask = async (query: string): Promise<any> => {
  const { stdout, stderr, code } = await runOctant(["call", "search.query", `query=${query}`, "--json"], {
    cwd: project,
    env,
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

test("the first queries are answered correctly while the index grows from one short process to the next", async () => {
  const first = await ask("how is the kettle heated until the water boils");
  const { data = first } = first;
  expect(data.hits[0]).toMatchObject({ symbol_id: "sym:zzz/kettle.ts#boilWater" });
  expect(data.index).not.toBe("fresh");
  expect(data).toMatchObject({ indexed_files: expect.any(Number), total_files: FILES + 1 });
  const second = await ask("where is boilWater defined?");
  const { data: next = second } = second;
  expect(next.hits[0]).toMatchObject({ symbol_id: "sym:zzz/kettle.ts#boilWater" });
  expect(next.indexed_files).toBeGreaterThan(data.indexed_files);
}, 120_000);
