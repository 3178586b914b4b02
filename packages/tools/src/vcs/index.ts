import { defineTool } from "@octant/core";
import { apply } from "./apply.ts";
import { blame } from "./blame.ts";
import { branch } from "./branch.ts";
import { checkout } from "./checkout.ts";
import { commit } from "./commit.ts";
import { diff } from "./diff.ts";
import { log } from "./log.ts";
import { show } from "./show.ts";
import { status } from "./status.ts";
import type { VcsWorkspace } from "./workspace.ts";

export type { VcsWorkspace } from "./workspace.ts";

/** Git history and changes, without running hooks or filters. */
export const vcs = (workspace: VcsWorkspace) =>
  defineTool({
    name: "vcs",
    summary:
      "Git: status, diffs, commits, branches and history; the repository's hooks and filters never run.",
    actions: {
      status: status(workspace),
      diff: diff(workspace),
      apply: apply(workspace),
      commit: commit(workspace),
      branch: branch(workspace),
      checkout: checkout(workspace),
      log: log(workspace),
      show: show(workspace),
      blame: blame(workspace),
    },
    async backends() {
      try {
        const { version, program } = await workspace.git.version();
        return [{ name: "git", available: true, version, detail: program }];
      } catch (cause) {
        return [
          { name: "git", available: false, detail: cause instanceof Error ? cause.message : String(cause) },
        ];
      }
    },
  });
