import { Foreign } from "../text/foreign.tsx";
import { type DiffFile, type DiffRow, parseDiff } from "./rows.ts";
import "../parts/code-lines.css";
import "./diff.css";

/** A unified diff, file by file. */
export function DiffText({ text }: { readonly text: string }) {
  const files = parseDiff(text);
  return (
    <div class="diff">
      {files.map((file) => (
        <DiffFileView key={file.path} file={file} />
      ))}
    </div>
  );
}

export function DiffFileView({ file: { path, note, rows, added, removed } }: { readonly file: DiffFile }) {
  return (
    <section class="diff-file" aria-label="Changes of a file">
      <header>
        <span class="diff-path">
          <Foreign text={path} oneLine />
        </span>
        {note && (
          <span class="diff-note">
            <Foreign text={note} oneLine />
          </span>
        )}
        <span class="diff-counts number">
          <span class="good-text">+{added}</span> <span class="bad-text">−{removed}</span>
        </span>
      </header>
      <DiffRows rows={rows} />
    </section>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−", gap: "" } as const;

export function DiffRows({ rows }: { readonly rows: readonly DiffRow[] }) {
  return (
    <div class="diff-rows" tabIndex={0} role="region" aria-label="Lines">
      <table>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} class={`diff-row ${row.kind}`}>
              <td class="diff-number">{row.old}</td>
              <td class="diff-number">{row.new}</td>
              <td class="diff-sign">
                {SIGNS[row.kind]}
                {row.kind === "added" && <span class="unseen">added</span>}
                {row.kind === "removed" && <span class="unseen">removed</span>}
              </td>
              <td class="diff-text">
                <RowText row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RowText({ row: { text, changed } }: { readonly row: DiffRow }) {
  if (!changed || changed[0] === changed[1]) return <Foreign text={text} />;
  const [from, to] = changed;
  return (
    <>
      <Foreign text={text.slice(0, from)} />
      <mark>
        <Foreign text={text.slice(from, to)} />
      </mark>
      <Foreign text={text.slice(to)} />
    </>
  );
}
