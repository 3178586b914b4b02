import { homedir } from "node:os";
import { resolve } from "node:path";
import { ToolError } from "@octant/core";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { realPath } from "../sandbox/tree.ts";
import { repositoryEnvironment } from "./environment.ts";
import { type ApprovedHooks, approveHooks, type HookRecord, toHooksFolder } from "./hooks.ts";
import {
  encodeOverrides,
  type NamedRule,
  type Override,
  type Setting,
  toNamedOverrides,
} from "./overrides.ts";
import type { Places } from "./repository.ts";
import { runGit } from "./run-git.ts";
import { LIST_SETTINGS, parseSettings, toIncluded } from "./settings.ts";

export interface PersonGitOptions {
  readonly places: Places;
  /** The git program, found outside projects. */
  readonly program: string;
  /** The person's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders that sandboxed commands can write to. */
  readonly writable: readonly Path[];
  /** The hooks that were in place when the session began. */
  readonly hooks: HookRecord;
  readonly signal?: AbortSignal;
}

/** For git push: of a setting of the repository the first value counts, so that none can override it. */
export const PUSH = ["push", "--receive-pack=git-receive-pack", "--recurse-submodules=no"] as const;

/** How the person's git may run outside the sandbox in a repository that others may have prepared. */
export interface PersonGit {
  readonly env: Readonly<Record<string, string>>;
  readonly hooks: ApprovedHooks;
  /** Settings of the repository that start programs; they were not used. */
  readonly ignored: readonly string[];
}

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
/** Neither helpers such as `ext::`, which run a program, nor git://, whose proxy program cannot be overridden. */
const PROTOCOLS = "https:http:ssh:file";
/** These apply whatever the person's config says. */
const FIXED: readonly Override[] = [
  ["core.fsmonitor", "false"],
  ["core.editor", ":"],
  ["submodule.recurse", "false"],
  ["push.recurseSubmodules", "no"],
  ["fetch.recurseSubmodules", "no"],
  ["diff.ignoreSubmodules", "all"],
  ["status.submoduleSummary", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/**
 * The person's own config applies: name, signature, credentials, filters. A setting of the repository that starts a
 * program is replaced by the person's, or disabled. Call `hooks.remove` in the end.
 */
export async function openPersonGit(options: PersonGitOptions): Promise<PersonGit> {
  const { places, env, hooks, writable } = options;
  const base = { ...env, ...repositoryEnvironment(places), GIT_ALLOW_PROTOCOL: PROTOCOLS };
  const settings = await listSettings(options, base);
  const home = env["HOME"] || homedir();
  const own = settings.filter(isPersons);
  const foreign = settings.filter((setting) => !isPersons(setting));
  checkIncludes(foreign, places, writable, home);
  const disabled = toNamedOverrides(foreign, PROGRAMS);
  const restored = disabled.flatMap(([key, value]): Override[] => {
    const values = own.filter((setting) => setting.key === key).map((setting) => setting.value);
    if (values.length === 0) return [[key, value]];
    // An empty helper drops those before it.
    return [
      ...(key.endsWith(".helper") ? [[key, ""] as const] : []),
      ...values.map((one) => [key, one] as const),
    ];
  });
  const hooksPath = settings.findLast(({ key }) => key === "core.hookspath")?.value;
  const folder =
    hooksPath === undefined ? `${places.commonDir}/hooks` : toHooksFolder(hooksPath, places, home);
  const approved = approveHooks(folder, hooks, writable);
  const overrides = [...restored, ...FIXED, ["core.hooksPath", approved.folder] as const];
  return {
    env: { ...base, ...encodeOverrides(overrides) },
    hooks: approved,
    ignored: [...new Set(foreign.filter(({ key }) => startsProgram(key)).map(({ key }) => key))],
  };
}

const isPersons = ({ scope }: Setting): boolean => scope !== "local" && scope !== "worktree";

/** Listing runs nothing. */
async function listSettings(
  { places, program, signal }: PersonGitOptions,
  env: Readonly<Record<string, string>>,
): Promise<Setting[]> {
  const { code, stdout, stderr } = await runGit({
    argv: [program, ...LIST_SETTINGS],
    folder: places.folder,
    env,
    input: new Uint8Array(),
    maxBytes: MAX_CONFIG_BYTES,
    ...(signal && { signal }),
  });
  if (code === 0) return parseSettings(stdout);
  throw new ToolError("VCS_ERROR", `git config failed: ${stderr.trim()}`, { exit_code: code });
}

/** A command could change such a file after it was read, so nothing in it can be disabled for sure. */
function checkIncludes(
  foreign: readonly Setting[],
  { folder, gitDir, commonDir }: Places,
  writable: readonly Path[],
  home: string,
): void {
  const read = foreign.flatMap(({ file }) => (file === undefined ? [] : [resolve(folder, file)]));
  const named = foreign
    .filter(({ key }) => /^include(if\..*)?\.path$/s.test(key))
    .map((setting) => toIncluded(setting, home) ?? folder);
  const open = [...read, ...named].find((file) => {
    const real = realPath(file) ?? file;
    return (
      writable.some((root) => isWithin(root, real)) && ![gitDir, commonDir].some((own) => isWithin(own, real))
    );
  });
  if (open === undefined) return;
  const message = `the repository's git config includes ${pathToUri(open)}, which commands can change, so git is not run outside the sandbox; remove the include or run git in your own terminal`;
  throw new ToolError("VCS_ERROR", message, { exit_code: null });
}

/** Settings of a repository that start programs or write files besides those that are disabled everywhere, and their harmless values. */
const PROGRAMS: readonly NamedRule[] = [
  { pattern: /^core\.sshcommand$/, keys: [["", "ssh"]] },
  {
    pattern: /^(core\.(askpass|pager)|sequence\.editor|diff\.external|interactive\.difffilter)$/,
    keys: [["", ""]],
  },
  { pattern: /^core\.alternaterefscommand$/, keys: [["", "false"]] },
  { pattern: /^credential\.helper$/, keys: [["", ""]] },
  { pattern: /^pager\..+$/s, keys: [["", "false"]] },
  // Git would write the server's cookies to that file.
  { pattern: /^http\.(.+\.)?cookiefile$/s, keys: [["", ""]] },
  { pattern: /^http\.(.+\.)?savecookies$/s, keys: [["", "false"]] },
  { pattern: /^lfs\.(customtransfer|extension)\..+$/s, keys: [["", ""]] },
  { pattern: /^lfs\.(.+\.)?standalonetransferagent$/s, keys: [["", ""]] },
];

/** The harmless ones of these are only set to what they are anyway. */
const startsProgram = (key: string): boolean =>
  PROGRAMS.some(({ pattern }) => pattern.test(key)) ||
  /^(filter|diff|merge|trailer|hook|gpg)\..*(clean|smudge|process|command|cmd|textconv|driver|program|keycommand)$/s.test(
    key,
  ) ||
  /^(credential\..+\.helper|remote\..+\.receivepack)$/s.test(key) ||
  key === "core.fsmonitor";
