import { join } from "node:path";
import { ToolError } from "@octant/core";
import type { CodeIndex } from "./code-index.ts";
import { faultOf, type IndexFault, removeIndexFile } from "./index-fault.ts";
import { startThread, type Thread } from "./thread.ts";

export interface IndexThreadData {
  readonly file: string;
  readonly embedder: string | undefined;
  /** The folder of LanceDB; undefined for the embedded store. */
  readonly lanceFolder: string | undefined;
}

/** The thread that owns the index. The first call starts it; a call after it has ended restarts it. */
export interface IndexThread extends Pick<Thread<CodeIndex>, "call"> {
  /** Incremented whenever the index starts over, empty. */
  readonly lives: number;
  close(): Promise<void>;
}

export interface IndexThreadOptions extends Omit<IndexThreadData, "file"> {
  /** A private folder for the index. */
  readonly folder: string;
  /** Called when the index starts over, empty. */
  onNewLife(): void;
  readonly log: (line: string) => void;
}

/** The upper bound; 50,000 chunks need a fifth of it. */
const INDEX_HEAP = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 12 };
/** One for each kind of fault, plus the first attempt. */
const MAX_TRIES = 3;
const IN_MEMORY = ":memory:";

/**
 * Any call may reveal damage, since SQLite notices it on reading a page. The index then starts over: on disk
 * when the file was damaged, in memory when the disk rejects writes.
 */
export function createIndexThread({ folder, onNewLife, log, ...data }: IndexThreadOptions): IndexThread {
  let file = join(folder, "search.sqlite");
  let thread: Thread<CodeIndex> | undefined;
  let repair: Promise<void> = Promise.resolve();
  let lives = 0;
  let isClosed = false;

  const open = (): Thread<CodeIndex> => {
    if (!thread || thread.hasEnded)
      thread = startThread<CodeIndex>("code-index", import.meta.url, { ...data, file }, INDEX_HEAP);
    return thread;
  };
  const beginAnew = async (old: Thread<CodeIndex>, fault: IndexFault) => {
    await old.close();
    if (fault === "damaged" && file !== IN_MEMORY) removeIndexFile(file);
    if (fault === "unwritable") file = IN_MEMORY;
    onNewLife();
  };
  const call = async <T>(work: (open: Thread<CodeIndex>) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      await repair;
      const asked = open();
      try {
        return await work(asked);
      } catch (cause) {
        if (isClosed) throw cause;
        // Another call hit the same fault and has already replaced the thread.
        if (thread !== asked && tries < MAX_TRIES) continue;
        const fault = faultOf(cause);
        if (!fault) throw cause;
        if (tries === MAX_TRIES || (fault === "unwritable" && file === IN_MEMORY)) throw unusable(cause);
        log(REMEDIES[fault]);
        thread = undefined;
        lives += 1;
        repair = beginAnew(asked, fault);
      }
    }
  };

  return {
    call: (name, ...args) => call((asked) => asked.call(name, ...args)),
    get lives() {
      return lives;
    },
    async close() {
      isClosed = true;
      await repair;
      // Lets the thread finish its writes.
      if (thread && !thread.hasEnded) await thread.call("close").catch(() => {});
      await thread?.close();
    },
  };
}

const REMEDIES: Readonly<Record<IndexFault, string>> = {
  damaged: "the search index was damaged and is being rebuilt",
  unwritable:
    "the search index cannot be written to the state folder (is the disk full?), so it is held in memory until the next start",
};

const unusable = (cause: unknown) =>
  new ToolError(
    "IO_ERROR",
    "the search index cannot be used; free space on the disk with the state folder",
    {},
    { cause },
  );
