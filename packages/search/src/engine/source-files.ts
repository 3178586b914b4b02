import type { FileState } from "./store.ts";

/** The files that can be searched, as the workspace gives them. Paths are relative and have `/`. */
export interface SourceFiles {
  list(signal: AbortSignal): AsyncIterable<ListedFile>;
  /** Files that hold all of the words, when that can be told faster than by reading all of them. */
  holding?(words: readonly string[], signal: AbortSignal): AsyncIterable<string>;
  /** undefined when there is nothing (any more) that could be searched: gone, a folder, binary, too large. */
  read(path: string): Promise<SourceFile | undefined> | SourceFile | undefined;
  /** Tells which files or folders may have changed; `unknown` when nobody knows which. */
  onChange(listener: (paths: readonly string[] | "unknown") => void): () => void;
}

export type ListedFile = Omit<FileState, "hash">;

export interface SourceFile {
  readonly text: string;
  readonly state: FileState;
}
