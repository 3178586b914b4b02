import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { toNative } from "../path.ts";
import { byteStringToPath } from "./byte-string.ts";
import { type IgnoreRules, parseIgnoreFile, type RuleChain } from "./ignore-rules.ts";

/** Larger ones are skipped: they are not written by hand. */
const MAX_IGNORE_FILE_BYTES = 4 * 1024 * 1024;

/** How an entry of a folder is reached in a system call; its name is a byte string. */
type At = (name: string) => string | Buffer;

/** The rules inside a folder: those around it and those of its own files. `has` tests whether it contains an entry. */
export function enterFolder(
  outer: IgnoreRules,
  depth: number,
  has: (name: string) => boolean,
  at: At,
): IgnoreRules {
  const isRepository = has(".git");
  const isInRepository = outer.isInRepository || isRepository;
  const add = (chain: RuleChain | undefined, name: string): RuleChain | undefined => {
    const rules = has(name) ? parseIgnoreFile(loadIgnoreFile(at(name))) : [];
    return rules.length > 0 ? { rules, depth, outer: chain } : chain;
  };
  const exclude = isRepository ? parseIgnoreFile(loadIgnoreFile(excludeFile(at))) : [];
  return {
    rgignore: add(outer.rgignore, ".rgignore"),
    ignore: add(outer.ignore, ".ignore"),
    // A repository inside another one does not obey the outer one's files.
    gitignore: isInRepository ? add(isRepository ? undefined : outer.gitignore, ".gitignore") : undefined,
    exclude: isRepository ? { rules: exclude, depth, outer: undefined } : outer.exclude,
    isInRepository,
    global: outer.global,
  };
}

/**
 * The rules that apply in a folder because of the folders above it. Some of those may be outside the workspace: their
 * ignore files are obeyed, like git does, but never shown.
 */
export function rulesAbove(names: readonly string[], global: RuleChain | undefined): IgnoreRules {
  let rules: IgnoreRules = {
    rgignore: undefined,
    ignore: undefined,
    gitignore: undefined,
    exclude: undefined,
    isInRepository: false,
    global,
  };
  let folder = "";
  for (const [depth, name] of names.entries()) {
    const here = folder;
    const at: At = (entry) => latin1Path(`${here}/${entry}`);
    rules = enterFolder(rules, depth, (entry) => existsSync(at(entry)), at);
    folder += `/${name}`;
  }
  return rules;
}

const latin1Path = (bytes: string): string | Buffer => toNative(byteStringToPath(bytes));

/** The user's ignore file for all repositories, as `core.excludesFile` names it; its rules count from `depth`. */
export function loadGlobalRules(env: NodeJS.ProcessEnv, depth: number): RuleChain | undefined {
  const { ignoreFile } = globalFiles(env);
  const rules = ignoreFile ? parseIgnoreFile(loadIgnoreFile(ignoreFile)) : [];
  return rules.length > 0 ? { rules, depth, outer: undefined } : undefined;
}

/** The files that may contain the user's own rules; some may not exist. */
export function globalIgnoreFiles(env: NodeJS.ProcessEnv): string[] {
  const { configs, ignoreFile } = globalFiles(env);
  return ignoreFile ? [...configs, ignoreFile] : configs;
}

function globalFiles(env: NodeJS.ProcessEnv): { configs: string[]; ignoreFile: string | undefined } {
  const home = env["HOME"];
  const config = env["XDG_CONFIG_HOME"] || (home && join(home, ".config"));
  const configs = [
    ...(home ? [join(home, ".gitconfig")] : []),
    ...(config ? [join(config, "git", "config")] : []),
  ];
  const named = configs.map((file) => EXCLUDES_FILE.exec(loadIgnoreFile(file))?.[1]).find(Boolean);
  const ignoreFile = named?.replace(/^~(?=\/)/, home ?? "~") ?? (config && join(config, "git", "ignore"));
  return { configs, ignoreFile };
}

const EXCLUDES_FILE = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im;

/** In a worktree `.git` is a file that names the real folder, and that one names the one it shares with others. */
export function excludeFile(at: At): string | Buffer {
  const place = (path: string) => (isAbsolute(path) ? latin1Path(path) : at(path));
  const named = /^gitdir: (.+)$/m.exec(loadIgnoreFile(at(".git")))?.[1];
  if (named === undefined) return at(".git/info/exclude");
  const shared = loadIgnoreFile(place(join(named, "commondir"))).trim();
  const repository = isAbsolute(shared) ? shared : join(named, shared);
  return place(join(repository, "info", "exclude"));
}

/** The bytes of the file, one character each; "" when it is missing or unreadable. */
function loadIgnoreFile(path: string | Buffer): string {
  // Most of them are not there, and finding that out by an error costs ten times as much.
  if (!existsSync(path)) return "";
  let fd: number | undefined;
  try {
    // A pipe of that name must not make us wait.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= MAX_IGNORE_FILE_BYTES ? readFileSync(fd, "latin1") : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
