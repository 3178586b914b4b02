import { usePage, useProcess } from "../../data/context.ts";
import { Tabs } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ProcessPicker } from "../../parts/process-picker.tsx";
import { SourcePreview } from "../../parts/source-preview.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { EditHistory } from "./edit-history.tsx";
import { FileTree } from "./file-tree.tsx";
import { UndoList } from "./undo-list.tsx";
import "./files.css";

const PARTS = [
  ["content", "Content"],
  ["history", "History"],
  ["undo", "Undo"],
] as const;
type Part = (typeof PARTS)[number][0];

/** The files of a project, who changed them, and how to take a change back. */
export function FilesView() {
  const { router } = usePage();
  const process = useProcess("fs");
  const { item, query } = router.route.value;
  const part = PARTS.find(([one]) => one === query["part"])?.[0] ?? (item ? "content" : "history");
  const root = process?.roots[0];
  return (
    <>
      <ViewHead
        title="Files"
        detail={
          root && (
            <span class="head-path">
              <Foreign text={root} oneLine />
            </span>
          )
        }
      >
        <ProcessPicker tool="fs" />
      </ViewHead>
      {!process || root === undefined ? (
        <Empty icon="files" title="No project is open" command="octant serve">
          Start the agent or a server in a project; its files appear here.
        </Empty>
      ) : (
        <div
          class={item ? "view-body split-list has-item files" : "view-body split-list files has-item none"}
        >
          <FileTree key={process.id} process={process} current={item} />
          <div class="file-detail">
            <Tabs<Part>
              label="Parts of the file"
              value={part}
              options={item ? PARTS : PARTS.slice(1)}
              onChange={(next) => router.filter({ part: next })}
            >
              {part === "content" && item && (
                <SourcePreview
                  key={item}
                  process={process.id}
                  uri={item}
                  roots={process.roots}
                  marked={lineOf(query["line"])}
                />
              )}
              {part === "history" && <EditHistory process={process.id} roots={process.roots} file={item} />}
              {part === "undo" && <UndoList process={process.id} />}
            </Tabs>
          </div>
        </div>
      )}
    </>
  );
}

const lineOf = (line: string | undefined): readonly [number, number] | undefined =>
  line && Number(line) > 0 ? [Number(line) - 1, Number(line)] : undefined;
