import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ActionsOf,
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type ErrorBody,
} from "@octant/core";
import { createBlobs, createConfinement, createEdits, openStateFolder } from "@octant/host";
import type { z } from "zod";
import { apply_patch } from "../../src/fs/apply-patch.ts";
import { diff } from "../../src/fs/diff.ts";
import { mkdir } from "../../src/fs/mkdir.ts";
import { rm } from "../../src/fs/rm.ts";
import { write } from "../../src/fs/write.ts";

/** The editing actions over an empty temporary workspace. */
export function createEditWorkspace(stateHome?: string) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-edit-")));
  const root = join(base, "ws");
  mkdirSync(root);
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);

  const confinement = createConfinement([root]);
  const state = openStateFolder({
    roots: confinement.roots,
    env: { XDG_STATE_HOME: stateHome ?? join(base, "state") },
    warn,
  });
  const blobs = createBlobs(state.folder("blobs"));
  const edits = createEdits({ confinement, blobs, state, warn });
  const workspace = { confinement, blobs, edits };
  const fs = defineTool({
    name: "fs",
    summary: "Files.",
    actions: {
      write: write(workspace),
      mkdir: mkdir(workspace),
      rm: rm(workspace),
      apply_patch: apply_patch(workspace),
      diff: diff(workspace),
    },
  });
  type Actions = ActionsOf<typeof fs>;

  const dispatch = createDispatcher({
    registry: createRegistry([fs]),
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  const call = async (action: string, input: unknown, signal?: AbortSignal) => {
    const caller = { id: "test", access: "admin" } as const;
    return (await dispatch({ tool: "fs", action, input }, { caller, signal })).envelope;
  };

  return {
    base,
    root,
    blobs,
    warnings,
    /** The data of a call that must succeed. */
    async ok<K extends keyof Actions & string>(
      action: K,
      input: z.input<Actions[K]["input"]>,
    ): Promise<z.output<Actions[K]["output"]>> {
      const envelope = await call(action, input);
      if (envelope.ok) return envelope.data as z.output<Actions[K]["output"]>;
      throw new Error(`fs.${action}: ${envelope.error.code} ${envelope.error.message}`);
    },
    /** The error of a call that must fail. */
    async fail(action: string, input: unknown, signal?: AbortSignal): Promise<ErrorBody> {
      const envelope = await call(action, input, signal);
      if (envelope.ok) throw new Error(`fs.${action} succeeded: ${JSON.stringify(envelope.data)}`);
      return envelope.error;
    },
    /** All names in the workspace, sorted. */
    names: () => readdirSync(root, { recursive: true, encoding: "utf8" }).sort(),
    async close() {
      await edits.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export type EditWorkspace = ReturnType<typeof createEditWorkspace>;
