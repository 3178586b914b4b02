import type { Embedder } from "../vector/embedder.ts";
import type { PlannedFile } from "./code-index.ts";
import type { IndexCalls } from "./code-index-entry.ts";
import type { SharedParsers } from "./shared-parsers.ts";
import type { SourceFiles } from "./source-files.ts";
import type { ChunkPlace, FileState } from "./store.ts";
import type { Thread } from "./thread.ts";

export interface UpdateOptions {
  readonly files: SourceFiles;
  readonly index: Pick<Thread<IndexCalls>, "call">;
  readonly parsers: SharedParsers;
  readonly embedder: Embedder | undefined;
  readonly planned: readonly PlannedFile[];
  /** Hashes of files that a query has indexed since the plan was made. */
  readonly early: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  /** Reports how many of the files are done. */
  readonly onDone: (done: number) => void;
  /** Whether to record the times of files whose content has not changed. */
  readonly touches?: boolean;
  /** Awaited before each file, so that more urgent reads can go first. */
  readonly turn?: () => Promise<unknown>;
}

/** Files that wait for a parser. */
const LANES = 12;
const FILES_PER_WRITE = 48;
/** The process may end soon; the next one continues from the rows written so far. */
const WRITE_EVERY_MS = 500;

/**
 * Reads the planned files, parses them and writes them to the index. Unreadable files are removed from it.
 */
export async function updateIndex(options: UpdateOptions): Promise<void> {
  const { index, embedder } = options;
  await readFiles(options);
  if (embedder) await embedAll(options, embedder);
  await index.call("tidy");
}

/**
 * The same without the vectors of a model. When it is aborted, files parsed so far stay in the index. Returns how many
 * of the files had changed.
 */
export async function readFiles(options: Omit<UpdateOptions, "embedder">): Promise<number> {
  const { files, index, parsers, planned, early, signal, onDone, turn, touches = true } = options;
  using borrowed = parsers.lease();
  const queue = planned[Symbol.iterator]();
  const parsed: Uint8Array[] = [];
  const unchanged: FileState[] = [];
  const gone: string[] = [];
  let done = 0;
  let changed = 0;
  let written = performance.now();
  const flush = async () => {
    written = performance.now();
    if (parsed.length > 0) await index.call("putAll", parsed.splice(0));
    if (unchanged.length > 0) await index.call("touch", unchanged.splice(0));
    if (gone.length > 0) await index.call("remove", gone.splice(0));
  };
  const work = async () => {
    for (const { path, hash } of queue) {
      await turn?.();
      signal.throwIfAborted();
      const file = await files.read(path);
      const known = early.get(path) ?? hash;
      if (file?.state.hash !== known) changed++;
      if (!file) {
        // Unknown to the index, it can still be a removed folder.
        if (touches || known !== undefined) gone.push(path);
      } else if (file.state.hash !== known) parsed.push(await borrowed.pool.parse(file.state, file.text));
      else if (touches) unchanged.push(file.state);
      const isDue = performance.now() - written > WRITE_EVERY_MS;
      if (isDue || parsed.length + unchanged.length + gone.length >= FILES_PER_WRITE) await flush();
      onDone(++done);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, work));
  await flush();
  for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
  return changed;
}

/** Texts in one request to a model. */
const TEXTS_PER_CALL = 32;

async function embedAll({ files, index, signal }: UpdateOptions, embedder: Embedder): Promise<void> {
  let after = 0;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await index.call("unplaced", after, TEXTS_PER_CALL);
    const last = chunks.at(-1);
    if (!last) return;
    after = last.id;
    const texts = await Promise.all(chunks.map((chunk) => textOf(files, chunk)));
    const there = chunks.flatMap(({ id }, at) => (texts[at] ? [{ id, text: texts[at] }] : []));
    const vectors = await embedder.embed(
      there.map(({ text }) => text),
      "passage",
      signal,
    );
    await index.call(
      "place",
      there.flatMap(({ id }, at) => (vectors[at] ? [{ id, vector: vectors[at] }] : [])),
    );
  }
}

/** undefined when the file has changed since it was parsed. */
async function textOf(files: SourceFiles, { file, hash, firstLine, endLine }: ChunkPlace) {
  const source = await files.read(file);
  if (source?.state.hash !== hash) return undefined;
  return source.text.split("\n").slice(firstLine, endLine).join("\n");
}
