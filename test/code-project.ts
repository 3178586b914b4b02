import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOctant, LOCAL_CALLER } from "@octant/app";
import type { Position } from "@octant/core";
import {
  createLanguageServers,
  createWatcher,
  type LanguageServers,
  type LanguageServersOptions,
  type Watcher,
} from "@octant/host";
import { ParserPool, SearchEngine } from "@octant/search";
import { code, createSourceFiles } from "@octant/tools";

export const FIXTURES = join(import.meta.dirname, "fixtures", "code");

export interface CodeProject extends AsyncDisposable {
  readonly roots: readonly string[];
  readonly servers: LanguageServers;
  readonly watcher: Watcher;
  /** The envelope of a call through the dispatcher. */
  call(
    tool: string,
    action: string,
    input: object,
    onProgress?: (message: string | undefined) => void,
    // biome-ignore lint/suspicious/noExplicitAny: the data of any action.
  ): Promise<any>;
}

/** A server with the code tool, on copies of these folders. */
export function openCodeProject(
  folders: readonly string[],
  options: Partial<Pick<LanguageServersOptions, "env" | "limits" | "bundledFrom" | "configured">> = {},
): CodeProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-code-")));
  const roots = folders.map((folder, n) => {
    const root = join(base, `${n}`);
    cpSync(folder, root, { recursive: true });
    return root;
  });
  mkdirSync(join(base, "home"));
  // npm adds the programs of our own packages, which no user has.
  const PATH = process.env["PATH"]
    ?.split(":")
    .filter((folder) => !folder.endsWith("node_modules/.bin"))
    .join(":");
  const env = { PATH, HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state"), ...options.env };
  const bugs: unknown[] = [];
  const octant = createOctant({ roots, env, onBug: ({ cause }) => bugs.push(cause) });
  const { workspace } = octant;
  const { confinement, sandbox, state } = workspace;
  const watcher = createWatcher({ confinement });
  const servers = createLanguageServers({ confinement, sandbox, state, watcher, ...options, env });
  // With the servers of this test.
  octant.removeTool("code");
  const parsers = new ParserPool(1);
  const index = new SearchEngine({
    files: createSourceFiles(workspace, watcher),
    folder: workspace.state.folder("search"),
    parsers,
    log: () => {},
  });
  octant.addTool(code({ workspace, servers, index, parsers }));
  return {
    roots,
    servers,
    watcher,
    async call(tool, action, input, onProgress) {
      const { envelope } = await octant.dispatch(
        { tool, action, input },
        { caller: LOCAL_CALLER, onProgress: ({ message }) => onProgress?.(message) },
      );
      if (bugs.length > 0) throw bugs[0];
      return envelope;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([servers.close(), index.close(), parsers.close()]);
      await watcher.close();
      await octant.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** The position of a text in a file: the nth occurrence, from 0. */
export function positionOf(file: string, text: string, nth = 0): Position {
  const content = readFileSync(file, "utf8");
  let at = content.indexOf(text);
  for (let n = 0; n < nth && at >= 0; n++) at = content.indexOf(text, at + 1);
  if (at < 0) throw new Error(`${file} does not hold '${text}' ${nth + 1} times`);
  const before = content.slice(0, at).split("\n");
  return { line: before.length - 1, col: before.at(-1)!.length };
}

/** Links our packages into a project, under the names that they have there. */
export function linkPackages(root: string, packages: Readonly<Record<string, string>>): void {
  const ours = join(import.meta.dirname, "../node_modules");
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  for (const [name, source] of Object.entries(packages)) {
    symlinkSync(join(ours, source), join(root, "node_modules", name));
    const bin = join(ours, ".bin", name);
    if (existsSync(bin)) symlinkSync(bin, join(root, "node_modules/.bin", name));
  }
}

/** As a build would write it; without it clangd knows only open files. */
export function writeCompileCommands(root: string, names = ["money", "basket", "main"]): void {
  const commands = names.map((name) => ({
    directory: root,
    file: `src/${name}.cpp`,
    command: `c++ -std=c++17 -Iinclude -c src/${name}.cpp`,
  }));
  writeFileSync(join(root, "compile_commands.json"), JSON.stringify(commands));
}
