import { useState } from "preact/hooks";
import { useLoad, usePage } from "../../data/context.ts";
import type { Logs } from "../../data/tool-data.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes } from "../../text/format.ts";

const PAGE_BYTES = 64 * 1024;
const SAVE_BYTES = 1024 * 1024;
/** A tab has to hold the file that it saves. */
const MAX_SAVED_BYTES = 256 * 1024 * 1024;

interface Props {
  readonly process: string;
  readonly proc_id: string;
  readonly stream: "stdout" | "stderr";
  onEnd(): void;
}

/** The output of a command from its beginning, page by page, as plain text. */
export function OutputPages({ process, proc_id, stream, onEnd }: Props) {
  const { store } = usePage();
  /** Where each page begins that was shown so far; the last one is shown. */
  const [starts, setStarts] = useState<readonly number[]>([0]);
  const [isSaving, setSaving] = useState(false);
  const since = starts.at(-1) ?? 0;
  const read = (from: number, max_bytes: number, signal?: AbortSignal) =>
    store.api.data<Logs>(process, "proc.logs", { proc_id, stream, since: from, max_bytes }, signal);
  const { data, error, reload } = useLoad(`${process} ${proc_id} ${stream} ${since}`, (signal) =>
    read(since, PAGE_BYTES, signal),
  );
  const save = async () => {
    setSaving(true);
    try {
      const parts: string[] = [];
      for (let from = 0; from < MAX_SAVED_BYTES; ) {
        const { text, next, total } = await read(from, SAVE_BYTES);
        parts.push(text);
        if (next <= from || next >= total) break;
        from = next;
      }
      saveFile(`${proc_id}.${stream}.txt`, "text/plain", parts.join(""));
    } catch (cause) {
      store.fail(cause);
    } finally {
      setSaving(false);
    }
  };
  const hasNext = data !== undefined && data.next < data.total;
  return (
    <div class="terminal-frame">
      <div class="output-pages">
        <span class="number">
          {data ? `${toBytes(since)} to ${toBytes(data.next)} of ${toBytes(data.total)}` : "Output"}
        </span>
        <button
          type="button"
          class="button"
          disabled={starts.length === 1}
          onClick={() => setStarts(starts.slice(0, -1))}
        >
          Earlier
        </button>
        <button
          type="button"
          class="button"
          disabled={!hasNext}
          onClick={() => data && setStarts([...starts, data.next])}
        >
          Later
        </button>
        <button type="button" class="button" onClick={onEnd}>
          Back to the end
        </button>
        <button type="button" class="button" disabled={isSaving} onClick={save}>
          Save all
        </button>
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <pre class="code output-text" tabIndex={0} role="region" aria-label="Output">
          <Foreign text={data.text} />
        </pre>
      )}
    </div>
  );
}
