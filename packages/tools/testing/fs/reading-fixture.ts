import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Client,
  createClient,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  defineTool,
  type Reply,
} from "@octant/core";
import { type Blobs, createBlobs, createConfinement, createFiles } from "@octant/host";
import { list } from "../../src/fs/list.ts";
import { read } from "../../src/fs/read.ts";
import { stat } from "../../src/fs/stat.ts";

const fsTool = (files: ReturnType<typeof createFiles>) =>
  defineTool({
    name: "fs",
    summary: "Files.",
    actions: { read: read({ files }), stat: stat({ files }), list: list({ files }) },
  });

/** A workspace for tests, with the read actions behind a dispatcher. */
export interface ReadingFixture extends Disposable {
  readonly base: string;
  readonly root: string;
  readonly blobs: Blobs;
  readonly fs: Client<ReturnType<typeof fsTool>>["fs"];
  put(path: string, content: string | Uint8Array): string;
  call(action: string, input: unknown, options?: Partial<Parameters<Dispatch>[1]>): Promise<Reply>;
  /** The code of the failure. */
  failure(action: string, input: unknown): Promise<string>;
}

export function createReadingFixture(): ReadingFixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-reading-")));
  const root = join(base, "ws");
  mkdirSync(root);
  const blobs = createBlobs(join(base, "blobs"));
  const files = createFiles({
    confinement: createConfinement([root]),
    blobs,
    scratch: join(base, "blobs"),
    env: { HOME: join(base, "home") },
  });
  const bugs: unknown[] = [];
  const dispatch = createDispatcher({
    registry: createRegistry([fsTool(files)]),
    cursors: createCursors(Buffer.alloc(32, 7)),
    onBug: ({ cause }) => bugs.push(cause),
  });
  const caller = { id: "test", access: "read" } as const;
  const call: ReadingFixture["call"] = (action, input, options) =>
    dispatch({ tool: "fs", action, input }, { caller, ...options });

  return {
    base,
    root,
    blobs,
    fs: createClient<ReturnType<typeof fsTool>>(dispatch, { caller }).fs,
    put(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
      return join(root, path);
    },
    call,
    async failure(action, input) {
      const { envelope } = await call(action, input);
      return envelope.ok ? "none" : envelope.error.code;
    },
    [Symbol.dispose]() {
      rmSync(base, { recursive: true, force: true });
      if (bugs.length > 0) throw new AggregateError(bugs, "the tool has a bug");
    },
  };
}
