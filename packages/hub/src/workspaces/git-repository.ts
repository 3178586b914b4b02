import { ToolError } from "@octant/core";
import { findTrusted, runTrusted } from "@octant/host";

export interface GitRunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly input?: string;
  /** Exit codes that are answers. */
  readonly also?: readonly number[];
}

export interface GitRan {
  readonly code: number;
  readonly stdout: string;
}

const TIMEOUT_MS = 600_000;
const MAX_SHOWN_CHARS = 1_000;
/** `ext::` and others start programs of the URL's choice. */
const PROTOCOLS = "https:http:ssh:git:file";
/** The hub's repositories belong to the hub: no hook, filter or driver of a project runs here. */
const FIXED = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.autocrlf=false",
  "gc.auto=0",
  "init.defaultBranch=main",
  "user.name=Octant hub",
  "user.email=hub@octant.invalid",
].flatMap((setting) => ["-c", setting]);

export type RunGit = (args: readonly string[], options?: GitRunOptions) => Promise<GitRan>;

/**
 * Runs git in a folder that only the hub writes to, with the credentials of the person who started the hub. It never
 * runs in a folder that a container can write to: settings there could start programs.
 */
export function createRunGit(env: NodeJS.ProcessEnv): (folder: string | undefined) => RunGit {
  const { HOME, SSH_AUTH_SOCK, HTTPS_PROXY, HTTP_PROXY, NO_PROXY } = env;
  const own = Object.fromEntries(
    Object.entries({ HOME, SSH_AUTH_SOCK, HTTPS_PROXY, HTTP_PROXY, NO_PROXY }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const full = {
    ...own,
    PATH: env.PATH,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: PROTOCOLS,
  };
  return (folder) =>
    async (args, { signal, input, also = [] } = {}) => {
      const git = findTrusted("git");
      if (!git)
        throw new ToolError("UNSUPPORTED", "git is not installed on the hub's machine", {
          what: "git",
          how: "install git, such as with apt-get install git",
        });
      const where = folder === undefined ? [] : ["-C", folder];
      const ran = await runTrusted(git, [...where, ...FIXED, ...args], {
        env: full,
        timeoutMs: TIMEOUT_MS,
        ...(signal && { signal }),
        ...(input !== undefined && { input }),
      });
      const { code } = ran;
      if (code !== null && (code === 0 || also.includes(code)))
        return { code, stdout: ran.stdout.toString("utf8") };
      const stderr = withoutCredentials(ran.stderr.trim());
      const said = stderr.slice(-MAX_SHOWN_CHARS) || `git ended with ${code ?? "a signal"}`;
      throw new ToolError("VCS_ERROR", `git ${args[0]}: ${said}`, { exit_code: code });
    };
}

/** Its messages repeat URLs as they were given, with the name and password of the source. */
export const withoutCredentials = (text: string): string =>
  text.replaceAll(/(\w+:\/\/)[^\s/@]*(?:@[^\s/@]*)*@/g, "$1");
