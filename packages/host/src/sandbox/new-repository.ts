import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { attempt } from "@octant/core";
import { errnoOf } from "../errno.ts";
import { type Path, toNative } from "../path.ts";

/** Moves an entry out of the project; the second argument is its name there. */
type Move = (path: Path, name: string) => boolean;

const MAX_CONFIG_BYTES = 64 * 1024;

/**
 * Removes hooks and settings that start programs from a repository that a command has created. The command may still
 * run and replace folders with links, so each step uses a descriptor opened without following links.
 */
export function disarmRepository(gitFolder: Path, move: Move): Path[] {
  const folder = openFolder(toNative(gitFolder));
  // A `.git` file or link leads to a repository elsewhere, whose hooks would run here.
  if (folder === undefined) return move(gitFolder, ".git") ? [gitFolder] : [];
  const at = `/proc/self/fd/${folder}`;
  try {
    const whole = ["commondir", "config.worktree"].filter((name) => exists(`${at}/${name}`));
    const moved = whole.filter((name) => move(`${at}/${name}`, name));
    return [...moved, ...disarmHooks(at, move), ...disarmConfig(at, move)].map(
      (name) => `${gitFolder}/${name}`,
    );
  } finally {
    closeSync(folder);
  }
}

function disarmHooks(at: string, move: Move): string[] {
  if (!exists(`${at}/hooks`)) return [];
  const hooks = openFolder(`${at}/hooks`);
  if (hooks === undefined) return move(`${at}/hooks`, "hooks") ? ["hooks"] : [];
  try {
    const names = readdirSync(`/proc/self/fd/${hooks}`).filter((name) => !name.endsWith(".sample"));
    return names
      .filter((name) => move(`/proc/self/fd/${hooks}/${name}`, name))
      .map((name) => `hooks/${name}`);
  } finally {
    closeSync(hooks);
  }
}

/** Leaves the settings that `git init`, `git clone` and `git config user.name` write. */
function disarmConfig(at: string, move: Move): string[] {
  const config = `${at}/config`;
  const text = readPlain(config);
  if (text === "") return [];
  const harmless = text === undefined ? "" : harmlessLines(text);
  if (harmless === text) return [];
  const draft = `${config}.${randomBytes(8).toString("hex")}`;
  // Moving a hard link leaves no moment without settings, in which git would start new ones.
  const isLinked =
    text !== undefined &&
    attempt(() => {
      linkSync(config, draft);
      return true;
    });
  if (!move(isLinked ? draft : config, "config")) return [];
  // A command may change it again; the next sweep checks that.
  attempt(() => {
    writeFileSync(draft, harmless, { flag: "wx" });
    renameSync(draft, config);
  });
  return ["config"];
}

const KEY = /^\s*([a-z][a-z0-9-]*)\s*(?:=.*[^\\]|=?)\s*$/i;
const SECTION = /^\s*\[([a-z]+)(?:\s+"[^"\\]*")?\]\s*$/i;
const IGNORED = /^\s*(?:[#;].*[^\\]|[#;]?)$/;

const HARMLESS: Readonly<Record<string, RegExp>> = {
  core: /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/i,
  extensions: /^(objectformat|refstorage|partialclone)$/i,
  user: /^(name|email)$/i,
  remote: /^(url|pushurl|fetch|push|tagopt|prune)$/i,
  branch: /^(remote|merge|rebase|description)$/i,
  init: /^defaultbranch$/i,
  pull: /^(rebase|ff)$/i,
  push: /^(default|autosetupremote)$/i,
  submodule: /^(url|active)$/i,
};

/** A line that ends in a backslash would swallow the next one, and is dropped. */
function harmlessLines(text: string): string {
  let keys: RegExp | undefined;
  const isHarmless = (line: string): boolean => {
    if (IGNORED.test(line)) return true;
    const section = SECTION.exec(line)?.[1]?.toLowerCase();
    if (section !== undefined) keys = HARMLESS[section];
    // An unknown section hides its keys from us, and its header could carry one.
    else if (/^\s*\[/.test(line)) keys = undefined;
    const name = section === undefined ? KEY.exec(line)?.[1] : undefined;
    return keys !== undefined && (section !== undefined || (name !== undefined && keys.test(name)));
  };
  return text.split("\n").filter(isHarmless).join("\n");
}

/** Undefined for a link, a file. */
const openFolder = (path: string | Buffer): number | undefined =>
  attempt(() => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));

/** "" when there is none; undefined when it is not a plain file of ordinary size. */
function readPlain(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    return errnoOf(cause) === "ENOENT" ? "" : undefined;
  }
  try {
    const found = fstatSync(fd);
    return found.isFile() && found.size <= MAX_CONFIG_BYTES ? readFileSync(fd, "latin1") : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Linux' O_PATH: names an entry without opening it, so that a pipe does not block. */
const PLACE = 0o10000000;

const exists = (path: string): boolean =>
  attempt(() => {
    closeSync(openSync(path, PLACE | constants.O_NOFOLLOW));
    return true;
  }) ?? false;
