import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CallOptions,
  createClient,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  type PackContext,
  type Reply,
} from "@octant/core";
import { createWorkspace } from "@octant/host";
import { fs, workspaceTools } from "@octant/tools";
import { settings, tools } from "../src/index.ts";
import type { Settings } from "../src/settings.ts";

/** The pack with the tools it uses, on a project of its own. */
export async function openMusic(given: object = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-music-")));
  const workspace = createWorkspace({
    roots: [base],
    env: { XDG_STATE_HOME: `${base}-state` },
    warn: () => {},
  });
  const closing: (() => Promise<void> | void)[] = [];
  const bugs: unknown[] = [];
  let dispatch: Dispatch;
  const context: PackContext<Settings> = {
    settings: settings.parse(given),
    folder: realpathSync(mkdtempSync(join(tmpdir(), "octant-garden-"))),
    roots: [base],
    log: () => {},
    onClose: (close) => closing.unshift(close),
    credentials: () => Promise.reject(new Error("the pack declares no sign-in")),
    client: ({ caller, signal }) =>
      createClient((call, options) => dispatch(call, options), { caller, signal }),
  };
  const { artifact, cas, graph } = workspaceTools;
  const own = [fs(workspace), artifact(workspace), cas(workspace), graph(workspace)];
  const registry = createRegistry([...own, ...(await tools(context))]);
  dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => bugs.push(cause),
  });

  const reply = (name: string, input: object = {}, more: Partial<CallOptions> = {}): Promise<Reply> => {
    const [tool = "", action = ""] = name.split(".");
    return dispatch({ tool, action, input }, { caller: { id: "me", access: "admin" }, ...more });
  };
  return {
    base,
    context,
    registry,
    bugs,
    reply,
    /** The data, or the error of a refused call. */
    // biome-ignore lint/suspicious/noExplicitAny: the data of any action.
    async call(name: string, input: object = {}, more: Partial<CallOptions> = {}): Promise<any> {
      const { envelope } = await reply(name, input, more);
      return envelope.ok ? envelope.data : { failed: envelope.error.code, ...envelope.error };
    },
    async bytesOf(made: { readonly ref: string }): Promise<Buffer> {
      const { envelope } = await reply("fs.read", {
        uri: made.ref,
        encoding: "base64",
        max_bytes: 8 * 1024 * 1024,
      });
      // The data of fs.read for one file.
      return Buffer.from((envelope.data as { base64: string }).base64, "base64");
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close();
      await workspace.close();
      for (const folder of [base, `${base}-state`, context.folder])
        rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Music = Awaited<ReturnType<typeof openMusic>>;
