import { accessSync, constants, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { attempt } from "@octant/core";
import { hashOf } from "../hashes.ts";
import { isWithin, type Path, toNative } from "../path.ts";
import { readRegularFile } from "../regular-file.ts";
import { realPath } from "../sandbox/tree.ts";
import { type Places, readSmallFile } from "./repository.ts";

/** The hooks of a repository at one moment: by folder, the hash of each file. */
export type HookRecord = ReadonlyMap<Path, ReadonlyMap<string, string>>;

/** A folder of hooks that git may run outside the sandbox. */
export interface ApprovedHooks {
  readonly folder: Path;
  /** Hooks that run, and those that do not because they are new, changed, or files that commands can change. */
  readonly run: readonly string[];
  readonly left: readonly string[];
  remove(): void;
}

const MAX_HOOK_BYTES = 1024 * 1024;
const MAX_HOOKS = 200;
const NAME = /^[a-z][a-z0-9-]*$/;

/** Records the hooks in place, without starting git: those of the repository, and those of every `hooksPath` in its or the person's config. */
export function recordHooks(places: Places, env: NodeJS.ProcessEnv): HookRecord {
  const home = env["HOME"] || homedir();
  const configs = [
    ...[`${places.commonDir}/config`, `${places.gitDir}/config.worktree`, `${home}/.gitconfig`],
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git/config"),
    ...(env["GIT_CONFIG_GLOBAL"] ? [env["GIT_CONFIG_GLOBAL"]] : []),
  ];
  const named = configs.flatMap((file) =>
    [...readSmallFile(file).matchAll(/^[ \t]*hookspath[ \t]*=[ \t]*"?([^"\r\n]+)"?[ \t]*$/gim)].map(
      ([, path = ""]) => toHooksFolder(path.trim(), places, home),
    ),
  );
  const folders = new Set([join(places.commonDir, "hooks"), ...named]);
  return new Map([...folders].map((folder) => [folder, hashesIn(folder)]));
}

/** Where `core.hooksPath` leads. */
export const toHooksFolder = (path: string, { top }: Places, home: string): Path =>
  resolve(top, path.replace(/^~(?=\/)/, home));

/**
 * Copies of the hooks that are as recorded, since an approved file must not change before git runs it. A folder that
 * commands can write to is left out: a hook there may call its neighbours.
 */
export function approveHooks(folder: Path, record: HookRecord, writable: readonly Path[]): ApprovedHooks {
  const real = realPath(folder) ?? folder;
  const isOpen = writable.some((root) => isWithin(root, real)) && !real.split("/").includes(".git");
  const before = record.get(folder) ?? new Map<string, string>();
  const copy = mkdtempSync(join(tmpdir(), "octant-hooks-"));
  const run: string[] = [];
  const left: string[] = [];
  for (const [name, bytes] of readHooks(folder)) {
    const isSame = !isOpen && before.get(name) === hashOf(bytes);
    (isSame ? run : left).push(name);
    if (isSame) writeFileSync(join(copy, name), bytes, { mode: isExecutable(folder, name) ? 0o700 : 0o600 });
  }
  const isHook = (name: string) => NAME.test(name) && isExecutable(folder, name);
  return {
    folder: copy,
    run: run.filter(isHook),
    left: left.filter(isHook),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

const hashesIn = (folder: Path): ReadonlyMap<string, string> =>
  new Map(readHooks(folder).map(([name, bytes]) => [name, hashOf(bytes)]));

/** Small files only; git's own samples never run. */
function readHooks(folder: Path): [string, Buffer][] {
  const names = attempt(() => readdirSync(toNative(folder))) ?? [];
  return names
    .filter((name) => !name.endsWith(".sample"))
    .slice(0, MAX_HOOKS)
    .flatMap((name) => {
      const bytes = readRegularFile(join(folder, name), MAX_HOOK_BYTES);
      return bytes === undefined ? [] : [[name, bytes] as [string, Buffer]];
    });
}

const isExecutable = (folder: Path, name: string): boolean =>
  attempt(() => {
    accessSync(toNative(join(folder, name)), constants.X_OK);
    return true;
  }) ?? false;
