import { defineTool } from "@octant/core";
import { programBackend } from "../program-backend.ts";
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
    summary: "Git: status, diffs, commits, branches and history; repository hooks and filters never run.",
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
    backends: async () => [await programBackend("git", () => workspace.git.version())],
  });
