import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PACKAGES = join(import.meta.dirname, "../packages");
/** Static imports and exports from other files, with what is imported. */
const IMPORT = /^(?:import|export)\s+(type\s)?([^"';]*?)\s*(?:from\s*)?"(\.[^"]+\.ts)";/gm;

/** The files that a file needs when it runs; types are erased, and dynamic imports run later. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, type, names = "", from = ""]) =>
    type || isOnlyTypes(names) ? [] : [join(file, "..", from)],
  );
}

const isOnlyTypes = (names: string) =>
  /^\{[^}]*\}$/.test(names) &&
  names
    .slice(1, -1)
    .split(",")
    .every((name) => name.trim() === "" || /^\s*type\s/.test(name));

/** Each cycle as the path from a file back to itself. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string) => {
    const at = path.indexOf(file);
    if (at !== -1) cycles.push([...path.slice(at), file].join(" -> "));
    if (at !== -1 || done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}

test("no files import values from each other in a cycle", () => {
  const files = globSync("*/src/**/*.ts", { cwd: PACKAGES });
  const graph = new Map(
    files.map((file) => [file, importsOf(file, readFileSync(join(PACKAGES, file), "utf8"))] as const),
  );
  expect(findCycles(graph)).toEqual([]);
});

test("a cycle of values is found, and one of types or of a later import is none", () => {
  const cyclesOf = (a: string) =>
    findCycles(
      new Map([
        ["a.ts", importsOf("a.ts", a)],
        ["b.ts", importsOf("b.ts", 'import {\n  type A,\n  a,\n} from "./a.ts";')],
      ]),
    );
  expect(cyclesOf('export { b } from "./b.ts";')).toEqual(["a.ts -> b.ts -> a.ts"]);
  expect(cyclesOf('import "./b.ts";')).toHaveLength(1);
  expect(cyclesOf('import type { B } from "./b.ts";')).toEqual([]);
  expect(cyclesOf('import { type B, type C } from "./b.ts";')).toEqual([]);
  expect(cyclesOf('const b = () => import("./b.ts");')).toEqual([]);
});
