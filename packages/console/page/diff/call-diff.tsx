import { Json } from "../parts/json.tsx";
import { Foreign } from "../text/foreign.tsx";
import { DiffRows, DiffText } from "./diff-view.tsx";
import { editsToRows, isDiff, toLines } from "./rows.ts";

/** The change that a call made or asked for, as a diff. */
export function CallDiff({ input, envelope }: { readonly input: unknown; readonly envelope: unknown }) {
  const { uri, patch, edits, content } = Object(input);
  const { diff } = Object(Object(envelope).data);
  if (typeof diff === "string" && isDiff(diff)) return <DiffText text={diff} />;
  if (typeof patch === "string" && isDiff(patch)) return <DiffText text={patch} />;
  const list = Array.isArray(patch) ? patch : edits;
  if (Array.isArray(list)) return <OneFile path={String(uri ?? "")} rows={editsToRows(list)} />;
  if (typeof content === "string")
    return <OneFile path={String(uri ?? "")} rows={toLines(content, "added")} />;
  return <Json label="Change" value={diff ?? patch} />;
}

function OneFile({
  path,
  rows,
}: {
  readonly path: string;
  readonly rows: Parameters<typeof DiffRows>[0]["rows"];
}) {
  return (
    <section class="diff-file" aria-label="Changes of a file">
      <header>
        <span class="diff-path">
          <Foreign text={path} oneLine />
        </span>
      </header>
      <DiffRows rows={rows} />
    </section>
  );
}
