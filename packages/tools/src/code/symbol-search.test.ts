import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWatcher, createWorkspace, DEFAULT_SANDBOX } from "@octant/host";
import { ParserPool, SearchEngine } from "@octant/search";
import { expect, test } from "vitest";
import { createSourceFiles } from "../search/source-files.ts";
import { createSymbolSearch } from "./symbol-search.ts";

test("symbols of the index are checked against files whose change was not reported yet", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-symbols-")));
  const root = join(base, "project");
  mkdirSync(root);
  const write = (text: string) => writeFileSync(join(root, "tea.ts"), text);
  write("export function boil() {\n  return 100;\n}\n");
  const workspace = createWorkspace({
    roots: [root],
    env: { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state") },
    warn: () => {},
    sandbox: { ...DEFAULT_SANDBOX, mode: "off" },
  });
  const watcher = createWatcher(workspace);
  const parsers = new ParserPool(1);
  const engine = new SearchEngine({
    files: { ...createSourceFiles(workspace, watcher), onChange: () => () => {} },
    folder: workspace.state.folder("search"),
    parsers,
    log: () => {},
  });
  try {
    const { signal } = new AbortController();
    await engine.index({ signal });
    const symbols = createSymbolSearch(workspace, engine);
    const names = async (query: string) =>
      (await symbols.search({ query, limit: 10 }, signal)).symbols.map(({ name }) => name);
    expect(await names("boil")).toEqual(["boil"]);
    write("export function boilWater() {\n  return 100;\n}\n");
    expect((await engine.progress()).state).toBe("fresh");
    expect(await names("boil")).toEqual(["boilWater"]);
    rmSync(join(root, "tea.ts"));
    expect(await names("boil")).toEqual([]);
  } finally {
    await engine.close();
    await parsers.close();
    await watcher.close();
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  }
});
