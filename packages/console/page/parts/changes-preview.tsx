import type { FileChanges } from "../../src/api.ts";
import { Foreign } from "../text/foreign.tsx";
import { lazy } from "./lazy.tsx";

const DiffText = lazy(async () => (await import("../diff/diff-view.tsx")).DiffText);

/** The changes that an undo would make, shown before it is done. */
export function ChangesPreview({
  changes: { diff, conflicts, merged, notes },
}: {
  readonly changes: FileChanges;
}) {
  return (
    <>
      {diff === "" ? <p>The files are already as they were.</p> : <DiffText text={diff} />}
      {conflicts.length > 0 && <Files title="Changed by others too, and left alone" files={conflicts} />}
      {merged.length > 0 && <Files title="Changed by others too; both changes stay" files={merged} />}
      {notes.map((note, index) => (
        <p key={index} class="calm">
          <Foreign text={note} />
        </p>
      ))}
    </>
  );
}

function Files({ title, files }: { readonly title: string; readonly files: readonly string[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {files.map((file) => (
          <li key={file}>
            <code>
              <Foreign text={file} oneLine />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}
