import { useEffect, useRef } from "preact/hooks";
import { toFailed } from "../data/api.ts";
import { useLoad, usePage } from "../data/context.ts";
import type { FileContent } from "../data/tool-data.ts";
import { toHash } from "../shell/route.ts";
import { Foreign } from "../text/foreign.tsx";
import { toBytes, toPath } from "../text/format.ts";
import { Loading } from "./loading.tsx";
import { Picture } from "./picture.tsx";
import { Problem } from "./problem.tsx";
import "./code-lines.css";
import "./source-preview.css";

interface Props {
  readonly process: string;
  readonly uri: string;
  readonly roots: readonly string[];
  /** 0-based, end exclusive. */
  readonly marked?: readonly [number, number] | undefined;
  readonly around?: number;
}

const MAX_BYTES = 256 * 1024;

/** A file with line numbers; some lines marked. */
export function SourcePreview({ process, uri, roots, marked, around }: Props) {
  const { store } = usePage();
  const first = marked && around !== undefined ? Math.max(0, marked[0] - around) : 0;
  const lines = marked && around !== undefined ? `${first + 1}-${marked[1] + around}` : undefined;
  const { data, error, reload } = useLoad(`${process} ${uri} ${lines}`, async (signal) => {
    const { envelope, attachments } = await store.api.call(
      process,
      "fs",
      "read",
      { uri, max_bytes: MAX_BYTES, ...(lines && { lines }) },
      signal,
    );
    return { envelope, attachments };
  });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.querySelector(".marked")?.scrollIntoView({ block: "center" });
  }, [data]);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (!data.envelope.ok) return <Problem error={toFailed(data.envelope.error)} />;
  // As fs.read answers for one file.
  const content = data.envelope.data as FileContent;
  return (
    <div class="source" ref={place}>
      <p class="source-head">
        <a href={toHash("files", toPath(uri, roots), { process })}>
          <Foreign text={toPath(uri, roots)} oneLine />
        </a>
        <span class="number">{toBytes(content.size)}</span>
        {content.truncated && <span>only the beginning and the end are shown</span>}
      </p>
      {data.attachments.map(({ mime, base64 }, index) => (
        <Picture key={index} mime={mime} base64={base64} />
      ))}
      {content.text === undefined ? (
        data.attachments.length === 0 && <p class="calm">This file is not text.</p>
      ) : (
        <Lines text={content.text} first={first} marked={marked} />
      )}
    </div>
  );
}

function Lines({
  text,
  first,
  marked,
}: {
  readonly text: string;
  readonly first: number;
  readonly marked: Props["marked"];
}) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <div class="diff-rows source-lines" tabIndex={0} role="region" aria-label="Content of the file">
      <table>
        <tbody>
          {lines.map((line, index) => {
            const number = first + index;
            const isMarked = marked && number >= marked[0] && number < marked[1];
            return (
              <tr key={number} class={isMarked ? "marked" : undefined}>
                <td class="diff-number">{number + 1}</td>
                <td class="diff-text">
                  <Foreign text={line} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The lines of a range, at least one. */
export const linesOf = (
  range:
    | {
        readonly start: { readonly line: number };
        readonly end: { readonly line: number; readonly col?: number };
      }
    | null
    | undefined,
): readonly [number, number] | undefined =>
  range
    ? [range.start.line, Math.max(range.start.line + 1, range.end.line + (range.end.col === 0 ? 0 : 1))]
    : undefined;
