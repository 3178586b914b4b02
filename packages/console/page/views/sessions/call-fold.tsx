import { useState } from "preact/hooks";
import { hasChange } from "../../diff/has-change.ts";
import { Badge, Dot } from "../../parts/badge.tsx";
import { Json } from "../../parts/json.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Picture } from "../../parts/picture.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toDuration } from "../../text/format.ts";
import type { CallEntry } from "./transcript.ts";

const CallDiff = lazy(async () => (await import("../../diff/call-diff.tsx")).CallDiff);

/** A call of a tool as one line; unfolded it shows the request, the result and the change. */
export function CallFold({ entry }: { readonly entry: CallEntry }) {
  const [open, setOpen] = useState(false);
  const isRunning = entry.result === undefined;
  return (
    <details class="entry call" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Dot tone={isRunning ? "accent" : entry.failed ? "bad" : "plain"} moving={isRunning} />
        <span class="call-title">
          <Foreign text={entry.title} oneLine />
        </span>
        {entry.failed && <Badge tone="bad">{entry.code ?? "failed"}</Badge>}
        <span class="number call-duration">
          {entry.duration_ms === undefined ? "running" : toDuration(entry.duration_ms)}
        </span>
      </summary>
      {open && (
        <div class="call-body">
          {hasChange(entry.input) && (
            <CallDiff input={entry.input} envelope={{ data: { diff: entry.diff } }} />
          )}
          <Json label="Request" value={entry.input} />
          {entry.result !== undefined && <Json label="Result" value={entry.result} />}
          {entry.pictures.map(({ mime, data }, index) => (
            <Picture key={index} mime={mime} base64={data} />
          ))}
        </div>
      )}
    </details>
  );
}
