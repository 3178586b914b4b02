import { join } from "node:path";
import { readRegularFile } from "@octant/host";
import type { Places } from "./path-glob.ts";

const MAX_CONFIG_BYTES = 1024 * 1024;

/** The commands of git itself, which an alias cannot replace. */
const BUILTINS: ReadonlySet<string> = new Set(
  `add am annotate apply archive backfill bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config
  count-objects credential credential-cache credential-store describe diagnose diff diff-files diff-index diff-pairs
  diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo
  format-patch fsck gc get-tar-commit-id gitk grep gui hash-object help history hook index-pack init init-db instaweb
  interpret-trailers last-modified log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base
  merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects
  pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack
  reflog refs remote repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm scalar
  send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status
  stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info
  upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree
  lfs`.split(/\s+/),
);

/** Options of git before its command that take the next word. */
const TAKES_WORD: ReadonlySet<string> = new Set(
  "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source".split(" "),
);

/** Variables, and programs that run another one, with their options. */
const BEFORE_PROGRAM =
  /^(?:\w+=.*|-.*|(?:.*\/)?(?:env|sudo|doas|command|exec|builtin|time|nice|nohup|setsid|timeout|stdbuf|xargs))$/s;

/**
 * The expansion of a git command that is an alias, as text; undefined when it is git's own, and null when the alias is
 * not in the config of the person or of a root, so that only git can tell.
 */
export function expandGitAlias(words: readonly string[], places: Places): string | null | undefined {
  const program = words.findIndex((word) => !BEFORE_PROGRAM.test(word));
  if (!/(?:^|\/)git$/.test(words[program] ?? "")) return undefined;
  let at = program + 1;
  while (words[at]?.startsWith("-")) at += TAKES_WORD.has(words[at] as string) ? 2 : 1;
  const name = words[at];
  if (name === undefined || BUILTINS.has(name)) return undefined;
  const alias = findAlias(name, places);
  if (alias === undefined) return null;
  const rest = words.slice(at + 1).join(" ");
  return alias.startsWith("!") ? `${alias.slice(1)} ${rest}` : `git ${alias} ${rest}`;
}

function findAlias(name: string, { roots, homes = [] }: Places): string | undefined {
  const files = [
    ...roots.map((root) => join(root, ".git/config")),
    ...homes.flatMap((home) => [join(home, ".gitconfig"), join(home, ".config/git/config")]),
  ];
  return files.map((file) => aliasIn(file, name)).find((alias) => alias !== undefined);
}

function aliasIn(file: string, name: string): string | undefined {
  let inAliases = false;
  let found: string | undefined;
  for (const line of (readRegularFile(file, MAX_CONFIG_BYTES)?.toString() ?? "").split("\n")) {
    if (/^\s*\[/.test(line)) inAliases = /^\s*\[alias\]/i.test(line);
    const [, key = "", value = ""] = /^\s*([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    // Quotes matter to git alone; without them its words are the same or more.
    if (inAliases && key.toLowerCase() === name.toLowerCase()) found = value.replaceAll('"', "").trim();
  }
  return found;
}
