import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SourceFile, SourceFiles } from "../../src/engine/source-files.ts";

/** The files of a real folder, with writes that report their changes. */
export interface FolderFiles extends SourceFiles {
  write(path: string, text: string): void;
  remove(path: string): void;
  report(paths: readonly string[] | "unknown"): void;
  /** The paths that were read, in order. */
  readonly reads: string[];
}

export function folderFiles(root: string): FolderFiles {
  const listeners = new Set<(paths: readonly string[] | "unknown") => void>();
  const reads: string[] = [];
  return {
    reads,
    async *list(signal) {
      for (const path of globSync("**/*", { cwd: root }).sort()) {
        signal.throwIfAborted();
        const stat = statSync(join(root, path));
        if (stat.isFile()) yield { path, size: stat.size, mtimeMs: stat.mtimeMs };
      }
    },
    read: (path) => {
      reads.push(path);
      return readSource(root, path);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    report: (paths) => {
      for (const listener of listeners) listener(paths);
    },
  };
}

function readSource(root: string, path: string): SourceFile | undefined {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  const text = readFileSync(join(root, path), "utf8");
  const hash = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return { text, state: { path, hash, size: stat.size, mtimeMs: stat.mtimeMs } };
}
