import { defineTool } from "@octant/core";
import type { Workspace } from "@octant/host";
import type { DiagnosticsAfterEdit } from "../code/diagnostics-after-edit.ts";
import { programBackend } from "../program-backend.ts";
import { apply_patch } from "./apply-patch.ts";
import { diff } from "./diff.ts";
import { list } from "./list.ts";
import { mkdir } from "./mkdir.ts";
import { read } from "./read.ts";
import { rm } from "./rm.ts";
import { search_text } from "./search-text.ts";
import { stat } from "./stat.ts";
import { write } from "./write.ts";

export const fs = (workspace: Workspace, diagnostics?: DiagnosticsAfterEdit) =>
  defineTool({
    name: "fs",
    summary: "Files: read, list, search, create and patch them.",
    actions: {
      read: read(workspace),
      write: write(workspace),
      stat: stat(workspace),
      list: list(workspace),
      mkdir: mkdir(workspace),
      rm: rm(workspace),
      apply_patch: apply_patch({ ...workspace, ...(diagnostics && { diagnostics }) }),
      search_text: search_text(workspace),
      diff: diff(workspace),
    },
    backends: async () => [await programBackend("ripgrep", () => workspace.ripgrep.version())],
  });
