import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Path } from "../../path.ts";
import { createFileTable } from "./file-table.ts";
import { type TreeState, takeTreeState } from "./tree-state.ts";

/** The methods of an index thread. */
export function createTrigramCalls() {
  const table = createFileTable();
  let tree: TreeState | undefined;
  return {
    /** The folders below the root; undefined where files cannot be followed by their stamps. */
    takeTree(root: Path, env: NodeJS.ProcessEnv): readonly Path[] | undefined {
      tree = takeTreeState(root, env);
      return tree?.folders;
    },
    changedFolders: (scope: Path): Path[] | undefined => tree?.changedFolders(scope),
    setFiles: table.set,
    find: table.find,
  };
}

export type TrigramCalls = ReturnType<typeof createTrigramCalls>;

/** A thread of `trigram-entry`. It does not keep the process alive; a call that crashes it is rejected. */
export interface TrigramThread {
  call<K extends keyof TrigramCalls>(
    name: K,
    ...args: Parameters<TrigramCalls[K]>
  ): Promise<Awaited<ReturnType<TrigramCalls[K]>>>;
  close(): Promise<void>;
}

const MAX_HEAP_MB = 256;

export function startTrigramThread(): TrigramThread {
  const entry = new URL(`./trigram-entry${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let ended: Error | undefined;
  const end = (cause: Error) => {
    ended ??= cause;
    for (const call of waiting.values()) call.reject(ended);
    waiting.clear();
  };
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the trigram thread has ended")));
  worker.on("message", ({ number, value, failure }) => {
    const call = waiting.get(number);
    waiting.delete(number);
    if (failure) call?.reject(failure);
    else call?.resolve(value);
  });
  return {
    call(name, ...args) {
      if (ended) return Promise.reject(ended);
      const call = Promise.withResolvers<unknown>();
      waiting.set(++calls, call);
      worker.postMessage({ number: calls, name, args });
      // The method on the other side has this type; a message forgets it.
      return call.promise as Promise<never>;
    },
    async close() {
      await worker.terminate();
    },
  };
}
