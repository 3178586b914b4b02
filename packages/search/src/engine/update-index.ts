import { ToolError } from "@octant/core";
import type { Embedder } from "../vector/embedder.ts";
import type { PlannedFile } from "./code-index.ts";
import type { IndexThread } from "./index-thread.ts";
import type { Probe } from "./model-weight.ts";
import { encodeFile } from "./parse-file.ts";
import type { ParserPool } from "./parser-pool.ts";
import type { SourceFile, SourceFiles } from "./source-files.ts";
import type { FileState, Passage } from "./store.ts";

export interface IndexedParts {
  readonly files: SourceFiles;
  readonly index: Pick<IndexThread, "call">;
  readonly parsers: ParserPool;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Changed files that are no longer needed are left as they are in the index. */
  readonly isWanted?: (path: string) => boolean;
  readonly onLeft?: (path: string) => void;
  /** Reports how many of the files are done. */
  readonly onDone?: (done: number) => void;
  readonly onRead?: (file: SourceFile) => void;
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
 * Reads the planned files, parses them and writes them to the index. Unreadable files are removed from it. When it is
 * aborted, files parsed so far stay in the index. Returns how many of the files had changed.
 */
export async function readFiles(
  { files, index, parsers }: IndexedParts,
  planned: readonly PlannedFile[],
  { signal, isWanted = () => true, onLeft, onDone, onRead, turn, touches = true }: ReadOptions,
): Promise<number> {
  const queue = planned[Symbol.iterator]();
  const parsed: Uint8Array[] = [];
  const unchanged: FileState[] = [];
  const gone: string[] = [];
  let done = 0;
  let changed = 0;
  let written = performance.now();
  const flush = async () => {
    written = performance.now();
    if (parsed.length > 0) await index.call("put", parsed.splice(0));
    if (unchanged.length > 0) await index.call("touch", unchanged.splice(0));
    if (gone.length > 0) await index.call("remove", gone.splice(0));
  };
  const work = async () => {
    for (const { path, hash: known } of queue) {
      await turn?.();
      signal.throwIfAborted();
      const file = await files.read(path);
      if (file) onRead?.(file);
      if (file?.state.hash !== known) changed++;
      if (!file) {
        // Unknown to the index, it can still be a removed folder.
        if (touches || known !== undefined) gone.push(path);
      } else if (file.state.hash !== known) {
        if (isWanted(path)) parsed.push(await parse(parsers, file));
        else onLeft?.(path);
      } else if (touches) unchanged.push(file.state);
      const isDue = performance.now() - written > WRITE_EVERY_MS;
      if (isDue || parsed.length + unchanged.length + gone.length >= FILES_PER_WRITE) await flush();
      onDone?.(++done);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, work));
  await flush();
  for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
  return changed;
}

/** A file that is too large or fails to parse is indexed by its path only. */
async function parse(parsers: ParserPool, { state, text, isTooLarge }: SourceFile): Promise<Uint8Array> {
  try {
    if (isTooLarge) return encodeFile({ state, parsed: UNPARSED });
    return await parsers.call("parse", state.path, text, state);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return encodeFile({ state, parsed: UNPARSED });
  }
}

const UNPARSED = { symbols: [], chunks: [], isUnparsed: true } as const;

/** Texts in one request to a model. */
const TEXTS_PER_CALL = 32;

/** Embeds the chunks that have no vector of the model yet, then measures the model as `weighModel` does. */
export async function embedAll(
  { files, index }: Pick<IndexedParts, "files" | "index">,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<number | undefined> {
  let after = 0;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await index.call("unplaced", after, TEXTS_PER_CALL);
    const last = chunks.at(-1);
    if (!last) return weighModel(index, embedder, signal);
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

/**
 * Measures how well the model finds chunks of this index, when it is due. Returns its share of the full weight,
 * undefined when it was not measured.
 */
async function weighModel(
  index: IndexedParts["index"],
  embedder: Embedder,
  signal: AbortSignal,
): Promise<number | undefined> {
  const probes = await index.call("probes");
  if (!probes) return undefined;
  const asked: (Probe & { readonly vector: Float32Array })[] = [];
  for (let at = 0; at < probes.length; at += TEXTS_PER_CALL) {
    const some = probes.slice(at, at + TEXTS_PER_CALL);
    const texts = some.map(({ question }) => question);
    const vectors = await embedder.embed(texts, "question", signal);
    asked.push(...some.flatMap((probe, n) => (vectors[n] ? [{ ...probe, vector: vectors[n] }] : [])));
  }
  return index.call("weighModel", asked);
}

/** The lines of a chunk below its path and class; undefined when the file has changed since it was parsed. */
async function textOf(files: SourceFiles, { file, hash, firstLine, endLine, symbolPath }: Passage) {
  const source = await files.read(file);
  if (source?.state.hash !== hash) return undefined;
  const place = symbolPath === null ? file : `${file} ${symbolPath}`;
  return [place, ...source.text.split("\n").slice(firstLine, endLine)].join("\n");
}
