import { existsSync } from "node:fs";
import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { type Path, pathToUri, toNative } from "../path.ts";
import { fileLanguageOf } from "./file-language.ts";
import type { Session } from "./session.ts";
import { readSourceText, type SourceText } from "./source-text.ts";

/** A file as the server knows it. */
export interface OpenDocument extends SourceText {
  readonly uri: string;
  readonly version: number;
  /** The publication count when the server got this version. */
  readonly mark: number;
}

export type Documents = ReturnType<typeof createDocuments>;

/** A server holds each of them in memory, and looks at them again whenever one changes. */
const MAX_OPEN = 48;
const CREATED = 1;
const CHANGED = 2;
const DELETED = 3;

/** Keeps the server's documents in sync with the disk. */
export function createDocuments(confinement: Confinement, session: Session) {
  /** The one used last is the last. */
  const open = new Map<Path, OpenDocument>();
  const doubts = new Map<Path, number>();

  const close = (path: Path) => {
    const document = open.get(path);
    if (!document) return;
    open.delete(path);
    doubts.delete(path);
    session.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
    session.diagnostics.forget(document.uri);
  };
  /** Reads the file, unless it was just read, and updates the server if it differs. */
  const sync = (asked: Path, read?: SourceText): OpenDocument => {
    const source = read ?? readSourceText(confinement, asked);
    const { path, text, hash } = source;
    const known = open.get(path);
    open.delete(path);
    if (known?.hash === hash) {
      open.set(path, known);
      return known;
    }
    const uri = pathToUri(path);
    const document = { ...source, uri, version: (known?.version ?? 0) + 1, mark: session.diagnostics.mark() };
    const { version } = document;
    const languageId = fileLanguageOf(path)?.languageId ?? "plaintext";
    if (known)
      session.notify("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    else session.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
    open.set(path, document);
    for (const oldest of open.keys()) if (open.size > MAX_OPEN) close(oldest);
    return document;
  };
  const syncOrClose = (path: Path) => {
    try {
      sync(path);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      close(path);
    }
  };

  return {
    sync,
    /**
     * Call once after other files have changed: earlier publications about this one may be out of date, later ones are
     * not.
     */
    takeDoubt(path: Path) {
      const mark = doubts.get(path);
      doubts.delete(path);
      return mark;
    },
    /** Notifies the server that files may have changed, appeared or disappeared. */
    changed(paths: readonly Path[]) {
      for (const path of open.keys()) doubts.set(path, session.diagnostics.mark());
      for (const path of paths) if (open.has(path)) syncOrClose(path);
      // Also before the server has registered for it: files that it has read by then may have changed.
      session.notify("workspace/didChangeWatchedFiles", { changes: paths.flatMap(toEvents) });
      // Some look at the files that theirs include only when one is saved.
      for (const { uri } of open.values()) session.notify("textDocument/didSave", { textDocument: { uri } });
    },
  };
}

/**
 * It is unknown whether the file is new, and an edit replaces a file by a new one. Both events are sent, in this
 * order: TypeScript ignores a file that is created first and changed afterwards.
 */
function toEvents(path: Path): { uri: string; type: number }[] {
  const uri = pathToUri(path);
  if (!existsSync(toNative(path))) return [{ uri, type: DELETED }];
  return [
    { uri, type: CHANGED },
    { uri, type: CREATED },
  ];
}
