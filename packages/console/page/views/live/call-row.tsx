import type { LiveCall } from "../../data/call-log.ts";
import { usePage } from "../../data/context.ts";
import { originOf } from "../../data/roster.ts";
import { Dot } from "../../parts/badge.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes, toClock, toDuration, toPath } from "../../text/format.ts";

export const ROW_HEIGHT = 32;

export function CallRowView({ call }: { readonly call: LiveCall }) {
  const { store } = usePage();
  const rootsOf = (id: string) => store.origins.value.find((one) => one.id === id)?.roots;
  const isRunning = call.code === undefined;
  const isFailed = !isRunning && call.code !== "OK";
  return (
    <div class={isFailed ? "call-row failed" : "call-row"}>
      <span class="number call-time">{toClock(call.started_at)}</span>
      <span class="call-name">
        <Foreign text={`${call.tool}.${call.action}`} oneLine />
      </span>
      <span class="call-subject">
        <Foreign text={toPath(call.subject ?? "", rootsOf(call.process))} oneLine />
      </span>
      <span class="call-caller">
        <Foreign text={originOf(call, store.origins.value)} oneLine />
      </span>
      <span class="call-outcome">
        <Dot tone={isRunning ? "accent" : isFailed ? "bad" : "plain"} moving={isRunning} />
        <Foreign text={isRunning ? "running" : call.job_id ? "job" : (call.code ?? "")} oneLine />
      </span>
      <span class="right number">{call.duration_ms === undefined ? "" : toDuration(call.duration_ms)}</span>
      <span class="right number call-size">
        {call.answer_bytes === undefined ? "" : toBytes(call.answer_bytes)}
      </span>
    </div>
  );
}
