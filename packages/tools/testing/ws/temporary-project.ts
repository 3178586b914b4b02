import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Caller,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  type Registry,
} from "@octant/core";
import { createConfinement, pathToUri } from "@octant/host";
import { type WsOptions, ws } from "../../src/ws/index.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface TemporaryProject extends Disposable {
  readonly root: string;
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  /** The uri of a path in the project. */
  uri(path: string): string;
  /** Calls an action of ws and returns its data, or throws the error's code. */
  call(action: string, input?: Record<string, unknown>): Promise<unknown>;
}

export const CALLER: Caller = { id: "test", access: "read" };

/** A folder with these files and ws on it, behind the dispatcher as on any edge. */
export function temporaryProject(files: Files, options: Partial<WsOptions> = {}): TemporaryProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-ws-")));
  const root = join(base, "project");
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const registry = createRegistry([]);
  registry.addTool(
    ws({
      workspace: { confinement: createConfinement([root]) },
      registry,
      version: "1.2.3",
      sandbox: {
        status: async () => ({
          mode: "off",
          level: "off",
          detail: "nothing is run here",
          container: null,
          tried: [],
        }),
      },
      state: { kind: "temporary" },
      ...options,
    }),
  );
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  return {
    root,
    registry,
    dispatch,
    uri: (path) => pathToUri(path === "" ? root : join(root, path)),
    async call(action, input = {}) {
      const { envelope } = await dispatch({ tool: "ws", action, input }, { caller: CALLER });
      if (envelope.ok) return envelope.data;
      throw new Error(envelope.error.code);
    },
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}
