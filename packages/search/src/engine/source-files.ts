import type { FileState } from "./store.ts";

/** The searchable files of a workspace. Paths are relative and use `/`. */
export interface SourceFiles {
  list(signal: AbortSignal): AsyncIterable<ListedFile>;
  /** The files that contain all of the words, where an index makes this faster than reading every file. */
  holding?(words: readonly string[], signal: AbortSignal): AsyncIterable<string>;
  /** undefined when there is nothing to search: missing, a folder, binary, or too large and not code. */
  read(path: string): Promise<SourceFile | undefined> | SourceFile | undefined;
  /** Whether the file surely still has this hash, found out without reading it. */
  isStill?(path: string, hash: string): boolean;
  /** Reports files or folders that may have changed; `unknown` when the watcher cannot say which. */
  onChange(listener: (paths: readonly string[] | "unknown") => void): () => void;
  /** Called before a query: reports `unknown` where the system does not report changes. */
  poll?(): void;
}

export type ListedFile = Omit<FileState, "hash">;

export interface SourceFile {
  /** Empty when the file is too large. */
  readonly text: string;
  readonly isTooLarge?: true;
  readonly state: FileState;
}
