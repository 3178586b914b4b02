import { ToolError } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { isWithin, type Path, pathToUri, toBytes } from "../path.ts";
import { findOutsideProjects, pathOutsideProjects } from "../programs/trusted-program.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { realPath } from "../sandbox/tree.ts";
import { baseEnvironment, repositoryEnvironment } from "./environment.ts";
import { vcsError } from "./failure.ts";
import { encodeOverrides, type GitAllowance, type Override, type Setting, toOverrides } from "./overrides.ts";
import { checkLinks, findRepository, isInside, linksIn, type Places } from "./repository.ts";
import { type GitOutput, runGit } from "./run-git.ts";
import {
  filesNamedIn,
  INCLUDE,
  LIST_SETTINGS,
  parseSettings,
  personalFiles,
  watchSettings,
} from "./settings.ts";

export interface GitOptions {
  readonly confinement: Confinement;
  readonly env: NodeJS.ProcessEnv;
  /** Where git runs, without network. */
  readonly sandbox?: Pick<Sandbox, "wrap">;
  /** From the user's own settings, never from a project's. Nothing when absent. */
  readonly allow?: GitAllowance;
}

export interface Git {
  /**
   * The repository that holds the path, of a folder or a file, whether or not it is there; the first root's when absent.
   * The signal ends whatever git does for it.
   */
  open(path?: Path, signal?: AbortSignal): Repository;
  version(signal?: AbortSignal): Promise<{ readonly version: string; readonly program: string }>;
}

export interface RunOptions {
  readonly input?: Uint8Array;
  readonly maxBytes?: number;
  /** Exit codes that are answers; any other is VCS_ERROR. */
  readonly codes?: readonly number[];
  /** In place of the repository's own. */
  readonly indexFile?: Path;
  readonly settings?: readonly Override[];
  /** Whether paths may have magic: git stash itself passes `:/` on. */
  readonly hasMagicPaths?: true;
}

/** A repository in which git runs no code of the repository. */
export interface Repository extends Places {
  readonly signal: AbortSignal | undefined;
  /** Runs `git ARGS` in the repository's folder. Paths are literal and start there. */
  run(args: readonly Path[], options?: RunOptions): Promise<GitOutput>;
  /** A path of the workspace as git takes it: from the folder; OUTSIDE_WORKSPACE when it is not in this repository. */
  toName(path: Path): Path;
  /** PERMISSION_DENIED when rules keep the running call from one of these files, listed only if there are rules. */
  checkDenied(list: () => Promise<readonly Path[]>): Promise<void>;
  /** Whether the user's settings let the hooks of repositories run. */
  readonly runsHooks: boolean;
  /** Converts git's failure into an error for the caller. */
  failure(code: number | null, stderr: string): ToolError;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const NOTHING = new Uint8Array();
/** Commands that only read, for which the sandbox can be read-only. */
const READERS: ReadonlySet<string> = new Set([
  ...["status", "version", "config", "rev-parse", "symbolic-ref", "for-each-ref", "check-ref-format"],
  ...["log", "cat-file", "ls-tree", "ls-files", "diff", "diff-tree", "blame", "merge-base", "hash-object"],
]);
/**
 * Commands that write files of the working tree or the repository's config. The others, such as add, keep hooks and
 * config read-only: git inspects a nested repository under the config of that one, which may run anything.
 */
const CHANGES_PROTECTED: ReadonlySet<string> = new Set([
  ...["switch", "branch", "merge", "stash", "reset", "worktree", "checkout"],
]);
/** Older versions do not take settings from the environment. */
const OLDEST = { major: 2, minor: 31 };

export function createGit(options: GitOptions): Git {
  const { confinement, env, sandbox, allow = { filters: [], hooks: false } } = options;
  let found: { readonly path: string; readonly base: Record<string, string> } | undefined;
  /** Looked up with the first call: many servers never use git. */
  const machine = () => {
    if (found) return found;
    const path = pathOutsideProjects(env["PATH"] ?? "", confinement.roots);
    found = { path, base: baseEnvironment(env, path) };
    return found;
  };
  let isSafe = false;
  const known = new Map<Path, Known>();
  const configured = env["GIT_CONFIG_GLOBAL"];
  /** Files that git reads besides the repository; the sandbox mounts them on request. */
  const personal = new Set<Path>(configured?.startsWith("/") ? [configured] : []);

  const program = (name: string): string => {
    const file = findOutsideProjects(name, machine().path, confinement.roots);
    if (file === undefined) throw programMissing(name);
    return file;
  };

  /** A filter that settings allow may write, as git-lfs does. */
  const onlyReads = ([name = ""]: readonly Path[]) => allow.filters.length === 0 && READERS.has(name);

  const start = async (
    args: readonly Path[],
    { folder, top, gitDir, commonDir }: Partial<Places> & Pick<Places, "folder">,
    environment: Record<string, string>,
    signal: AbortSignal | undefined,
    { input = NOTHING, maxBytes = MAX_OUTPUT_BYTES }: RunOptions = {},
  ): Promise<GitOutput> => {
    const plain = { argv: [program("git"), "--no-pager", ...args] as const, input };
    const given = args.every((arg) => arg.isWellFormed()) ? plain : byXargs(program("xargs"), plain);
    const run = { ...given, folder, env: environment, maxBytes, signal };
    if (!sandbox) return runGit(run);
    const readOnly = onlyReads(args);
    const wrapped = await sandbox.wrap({
      argv: given.argv,
      folder,
      env: environment,
      pty: false,
      network: "off",
      isOurs: true,
      changesProtected: readOnly || CHANGES_PROTECTED.has(args[0] ?? ""),
      readOnly,
      besides: outside([readOnly ? top : undefined, gitDir, commonDir, ...personal]),
    });
    return runGit({ ...run, argv: wrapped.argv, folder: wrapped.folder, env: wrapped.env }).finally(
      wrapped.release,
    );
  };

  /** A repository beside or above the root is not there in a sandbox, or not to be written, unless it is asked for. */
  const outside = (paths: readonly (Path | undefined)[]): Path[] =>
    paths
      .filter((path) => path !== undefined)
      .filter((path) => !confinement.roots.some((root) => isWithin(root, path)));

  const version: Git["version"] = async (signal) => {
    const { stdout } = await start(["version"], { folder: confinement.roots[0]! }, machine().base, signal);
    const [, text = "", major, minor] = /(([0-9]+)\.([0-9]+)[0-9a-z.]*)/.exec(stdout.toString()) ?? [];
    if (Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor)) {
      const how = `install git ${OLDEST.major}.${OLDEST.minor} or newer`;
      const message = `git ${text} is too old to be run safely; ${how}`;
      throw new ToolError("UNSUPPORTED", message, { what: "git", how });
    }
    return { version: text, program: program("git") };
  };

  /** An included file becomes visible only after it is mounted, so the settings are listed again. */
  const listSettings = async (places: Places, signal?: AbortSignal): Promise<Setting[]> => {
    const environment = { ...machine().base, ...repositoryEnvironment(places) };
    for (;;) {
      const { code, stdout, stderr } = await start(LIST_SETTINGS, places, environment, signal);
      if (code !== 0) throw vcsError(confinement, code, stderr);
      const settings = parseSettings(stdout);
      const hidden = personalFiles(settings, env).filter((file) => !personal.has(file));
      for (const file of hidden) personal.add(file);
      if (hidden.length === 0 || !sandbox) return settings;
    }
  };

  const look = async (places: Places, signal?: AbortSignal): Promise<Known> => {
    const last = known.get(places.gitDir);
    if (last?.isSame()) return last;
    known.delete(places.gitDir);
    if (!isSafe) await version(signal);
    isSafe = true;
    const settings = await listSettings(places, signal);
    const isSame = watchSettings(settings, places, env);
    const named = filesNamedIn(settings, places, env["HOME"]);
    const isElsewhere = (file: Path | undefined) =>
      file === undefined || !isInside(confinement, places, realPath(file) ?? file);
    const unread = named.filter(({ setting, file }) => !INCLUDE.test(setting.key) && isElsewhere(file));
    const found = {
      isSame: isSame ?? (() => false),
      overrides: toOverrides(
        settings,
        allow,
        unread.map(({ setting }) => setting),
      ),
      reads: named.flatMap(({ file }) => file ?? []),
    };
    if (isSame) known.set(places.gitDir, found);
    return found;
  };

  const openAt = (places: Places, signal?: AbortSignal): Repository => ({
    ...places,
    signal,
    runsHooks: allow.hooks,
    async run(args, run = {}) {
      const { overrides: safe, reads } = await look(places, signal);
      checkLinks(confinement, places);
      // Git quotes lines of such a file that it cannot use.
      if (confinement.isRestricted())
        for (const path of [...linksIn(places), ...reads]) confinement.checkDenied(path);
      const environment = {
        ...machine().base,
        ...repositoryEnvironment(places),
        ...encodeOverrides([...safe, ...(run.settings ?? [])]),
        ...(run.indexFile !== undefined && { GIT_INDEX_FILE: run.indexFile }),
        ...(run.hasMagicPaths && { GIT_LITERAL_PATHSPECS: "0" }),
      };
      const output = await start(args, places, environment, signal, run);
      if (output.code === null || !(run.codes ?? [0]).includes(output.code))
        throw vcsError(confinement, output.code, output.stderr);
      return output;
    },
    toName: (asked) => nameIn(places.folder, asked),
    async checkDenied(list) {
      if (confinement.isRestricted()) for (const path of await list()) confinement.checkDenied(path);
    },
    failure: (code, stderr) => vcsError(confinement, code, stderr),
  });

  return {
    open(asked = confinement.roots[0]!, signal) {
      const places = findRepository(confinement, nearestFolder(confinement, asked));
      checkText(places);
      return openAt(places, signal);
    },
    version,
  };
}

interface Known {
  isSame(): boolean;
  readonly overrides: readonly Override[];
  /** Files that the repository's own settings make git read. */
  readonly reads: readonly Path[];
}

/** Node passes arguments as text; xargs passes any bytes. */
function byXargs(
  xargs: string,
  { argv, input }: { argv: readonly [string, ...string[]]; input: Uint8Array },
) {
  if (input.length > 0) throw new TypeError("bytes as arguments leave no room for input");
  const [git, ...args] = argv;
  const all = Buffer.concat(args.flatMap((arg) => [toBytes(arg), Buffer.of(0)]));
  return { argv: [xargs, "-0", "-x", git] as const, input: all };
}

/** The folder itself, or the nearest one above that is there. */
function nearestFolder(confinement: Confinement, asked: Path): Path {
  for (let path = asked; ; path = splitPath(path).parent) {
    try {
      using folder = confinement.openFolder(path);
      return folder.path;
    } catch (cause) {
      const isThere = !(cause instanceof ToolError) || !["NOT_FOUND", "NOT_A_DIRECTORY"].includes(cause.code);
      if (isThere || confinement.roots.includes(path)) throw cause;
    }
  }
}

function nameIn(folder: Path, path: Path): Path {
  if (path === folder) return ".";
  if (isWithin(folder, path)) return path.slice(folder === "/" ? 1 : folder.length + 1);
  const message = `${pathToUri(path)} is not in the repository at ${pathToUri(folder)}; repo names another one`;
  throw new ToolError("OUTSIDE_WORKSPACE", message, { roots: [pathToUri(folder)] });
}

/** The environment carries text only. */
function checkText({ top, gitDir, commonDir }: Places): void {
  if ([top, gitDir, commonDir].every((path) => path.isWellFormed())) return;
  const what = "a repository in a folder whose name is not UTF-8";
  throw new ToolError("UNSUPPORTED", `${what} cannot be used; rename the folder`, {
    what,
    how: "rename the folder",
  });
}

const programMissing = (name: string) =>
  new ToolError(
    "UNSUPPORTED",
    `${name} is not on the PATH (folders of the workspace and node_modules do not count); install it`,
    { what: name, how: `install ${name}` },
  );
