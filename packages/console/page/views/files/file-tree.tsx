import { useEffect, useState } from "preact/hooks";
import type { OctantProcess } from "../../../src/api.ts";
import { toFailed } from "../../data/api.ts";
import { usePage } from "../../data/context.ts";
import type { FolderEntry } from "../../data/tool-data.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useCursor } from "../../parts/use-cursor.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toPath } from "../../text/format.ts";
import { toRows } from "./tree-rows.ts";

const ROW_HEIGHT = 28;
const PAGE = 1_000;

interface Props {
  readonly process: OctantProcess;
  readonly current: string | undefined;
}

/** The tree of a project; folders are read when they are opened. */
export function FileTree({ process, current }: Props) {
  const { store, router } = usePage();
  const [folders, setFolders] = useState<ReadonlyMap<string, readonly FolderEntry[]>>(new Map());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useCursor(current);
  const [error, setError] = useState<unknown>();
  const load = async (path: string) => {
    try {
      const entries: FolderEntry[] = [];
      let cursorAt: string | null = null;
      do {
        const { envelope } = await store.api.call(process.id, "fs", "list", {
          uri: path || ".",
          limit: PAGE,
          ...(cursorAt && { cursor: cursorAt }),
        });
        if (!envelope.ok) throw toFailed(envelope.error);
        // As fs.list answers.
        entries.push(...(envelope.data as { entries: readonly FolderEntry[] }).entries);
        cursorAt = envelope.meta.paging.cursor;
      } while (cursorAt !== null);
      setFolders((before) => new Map(before).set(path, entries));
    } catch (cause) {
      if (path === "") setError(cause);
      else store.fail(cause);
    }
  };
  useEffect(() => {
    void load("");
  }, []);
  // A link may lead to a file in a folder that is not open yet.
  useEffect(() => {
    const above = foldersOf(current);
    setOpen((before) => new Set([...before, ...above]));
    for (const path of above) if (!folders.has(path)) void load(path);
  }, [current]);
  if (error !== undefined) return <Problem error={error} retry={() => load("")} />;
  if (!folders.has("")) return <Loading />;
  const rows = toRows(folders, open, (uri) => toPath(uri, process.roots));
  const act = (index: number) => {
    const row = rows[index];
    if (!row) return;
    if (row.kind !== "directory") return router.go("files", row.path, { process: process.id });
    const next = new Set(open);
    if (!next.delete(row.path)) next.add(row.path);
    setOpen(next);
    if (!folders.has(row.path)) void load(row.path);
  };
  const selected = rows.findIndex(({ path }) => path === cursor);
  return (
    <div class="session-list file-tree">
      <VirtualList
        label="Files"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        selected={selected}
        keyOf={(index) => rows[index]?.path ?? index}
        onSelect={(index) => setCursor(rows[index]?.path)}
        onOpen={act}
        row={(index) => {
          const row = rows[index];
          return (
            row && (
              <div class="tree-row" style={{ paddingLeft: `${16 + row.depth * 16}px` }}>
                <span class={row.isOpen ? "twist open" : "twist"}>
                  {row.kind === "directory" && <Icon name="chevron" />}
                </span>
                <Icon name={row.kind === "directory" ? "files" : "file"} />
                <Foreign text={row.name} oneLine />
                {row.kind === "directory" && (
                  <span class="unseen">{row.isOpen ? "open folder" : "folder"}</span>
                )}
              </div>
            )
          );
        }}
      />
    </div>
  );
}

/** All folders above a file. */
const foldersOf = (path: string | undefined): readonly string[] => {
  const parts = (path ?? "").split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
};
