import { splitPath } from "../confinement.ts";
import type { Places } from "./repository.ts";

/** Variables for the person's git config, identity, time zone and temp folder; nothing else of the server's environment. */
const PASSED = [
  ...["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "TZ", "TMPDIR", "EMAIL"],
  ...["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"],
] as const;

/** git without prompts, pagers or network. */
export const baseEnvironment = (env: NodeJS.ProcessEnv, path: string): Record<string, string> => ({
  ...Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ),
  PATH: path,
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_PAGER: "cat",
  GIT_EDITOR: ":",
  GIT_ADVICE: "0",
  // Stronger than protocol.allow, which a repository's protocol.ext.allow would undo.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
});

/** With explicit paths, git neither searches for a repository nor trusts core.worktree. */
export const repositoryEnvironment = ({ top, gitDir }: Places): Record<string, string> => ({
  GIT_DIR: gitDir,
  GIT_WORK_TREE: top,
  GIT_CEILING_DIRECTORIES: splitPath(top).parent,
});
