import { useState } from "preact/hooks";
import type { AuditRow } from "../../../src/api.ts";
import { useLoad, usePage } from "../../data/context.ts";
import { Badge, Dot } from "../../parts/badge.tsx";
import { Segments } from "../../parts/choices.tsx";
import { Detail } from "../../parts/detail.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Json } from "../../parts/json.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toClock, toDuration, toMoment } from "../../text/format.ts";
import "../live/live.css";
import "./audit-log.css";

const OUTCOMES = [
  ["", "All"],
  ["failed", "Failed"],
  ["denied", "Denied"],
] as const;
const LIMIT = 1_000;
const ROW_HEIGHT = 32;

export function AuditLog({ process }: { readonly process: string }) {
  const { store, router } = usePage();
  const { query } = router.route.value;
  const outcome = OUTCOMES.find(([one]) => one === query["outcome"])?.[0] ?? "";
  const text = query["q"] ?? "";
  const [chosen, setChosen] = useState(-1);
  const [open, setOpen] = useState(false);
  const { data, error, reload } = useLoad(`${process} ${outcome} ${text}`, (signal) =>
    store.api.person(
      process,
      "audit",
      { limit: LIMIT, ...(outcome && { outcome }), ...(text && { text }) },
      signal,
    ),
  );
  useKeys({ Escape: { run: () => setOpen(false) } });
  const records = data?.records ?? [];
  const record = open ? records[chosen] : undefined;
  return (
    <>
      <div class="part-controls">
        <ChainBadge process={process} />
        <SearchField label="Search the log" value={text} onInput={(q) => router.filter({ q })} />
        <Segments
          label="Outcome"
          value={outcome}
          options={OUTCOMES}
          onChange={(next) => router.filter({ outcome: next })}
        />
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && records.length === 0 && (
        <Empty icon="audit" title="No records">
          Every call of a tool leaves a record here: who, what, the decision and its outcome.
        </Empty>
      )}
      {records.length > 0 && (
        <div class="live-body">
          <div class="live-list">
            <ListHead />
            <VirtualList
              label="Records, newest first"
              count={records.length}
              rowHeight={ROW_HEIGHT}
              selected={chosen}
              keyOf={(index) => `${records[index]?.chain}${records[index]?.seq}`}
              onSelect={setChosen}
              onOpen={() => setOpen(true)}
              row={(index) => {
                const one = records[index];
                return one && <Row record={one} />;
              }}
            />
            {data && records.length === LIMIT && (
              <p class="calm part-note">
                These are the newest {counted(LIMIT, "record")}; narrow the search to see older ones.
              </p>
            )}
          </div>
          {record && (
            <Detail class="panel" label="Record" isPanel>
              <header class="panel-head">
                <h2>
                  <Foreign text={toTitle(record)} oneLine />
                </h2>
                {record.code && <Badge tone={record.code === "OK" ? "good" : "bad"}>{record.code}</Badge>}
                <button
                  type="button"
                  class="button icon-only quiet panel-close"
                  aria-label="Close"
                  onClick={() => setOpen(false)}
                >
                  <Icon name="close" />
                </button>
              </header>
              <div class="panel-part">
                <Json label="Record" value={record} />
              </div>
            </Detail>
          )}
        </div>
      )}
    </>
  );
}

function Row({ record }: { readonly record: AuditRow }) {
  const { store } = usePage();
  const isDenied = record.decisions?.some(({ outcome }) => outcome === "deny");
  const tone = record.code === undefined ? "plain" : record.code === "OK" ? "plain" : "bad";
  return (
    <div class={tone === "bad" ? "call-row audit-row failed" : "call-row audit-row"}>
      <span class="number call-time">{toMinute(Date.parse(record.time), store.now.peek())}</span>
      <span class={record.action === undefined ? "audit-note" : "call-name"}>
        <Foreign text={toTitle(record)} oneLine />
      </span>
      {record.action !== undefined && (
        <span class="call-caller">
          <Foreign text={record.caller ?? ""} oneLine />
        </span>
      )}
      <span class="call-outcome">
        {record.code !== undefined && <Dot tone={tone} />}
        <Foreign
          text={isDenied ? "denied" : (record.code ?? (record.action ? "no outcome yet" : ""))}
          oneLine
        />
      </span>
      <span class="right number">{record.duration === undefined ? "" : toDuration(record.duration)}</span>
      <span class="right number call-size">#{record.seq}</span>
    </div>
  );
}

function ListHead() {
  return (
    <div class="call-row audit-row list-head" aria-hidden="true">
      <span>Time</span>
      <span>Action</span>
      <span class="call-caller">Caller</span>
      <span class="call-outcome">Outcome</span>
      <span class="right">Duration</span>
      <span class="right call-size">Record</span>
    </div>
  );
}

/** Describes a record that is not about a call. */
function toTitle({ kind, action, pid, records = 0 }: AuditRow): string {
  if (action !== undefined) return action;
  if (kind === "open" && pid !== undefined) return `process ${pid} started writing`;
  if (kind === "dropped") return `${counted(records, "old record")} removed by retention`;
  return kind === "lost" ? `${counted(records, "record")} lost` : kind;
}

/** The time of today, the day of earlier records. */
const toMinute = (at: number, now: number): string => {
  const moment = toMoment(at, now);
  return moment.startsWith("Today ") ? toClock(at) : moment;
};

/** Whether the chain of the log is whole. */
function ChainBadge({ process }: { readonly process: string }) {
  const { store } = usePage();
  const { data, error } = useLoad(`chain ${process}`, (signal) =>
    store.api.person(process, "chain", {}, signal),
  );
  if (error !== undefined) return <Badge tone="bad">The chain could not be checked</Badge>;
  if (!data) return <Badge>Checking the chain</Badge>;
  if (data.ok)
    return (
      <span class="chain">
        <Badge tone="good">Chain is whole</Badge>
        <span class="calm number">
          {counted(data.records, "record")}
          {data.dropped > 0 && `, ${counted(data.dropped, "old one")} removed by retention`}
        </span>
      </span>
    );
  return (
    <details class="chain">
      <summary>
        <Badge tone="bad">{counted(data.problems.length, "problem")} in the chain</Badge>
      </summary>
      <ul>
        {data.problems.map(({ file, line, what }, index) => (
          <li key={index}>
            <Foreign text={`${file}${line === null ? "" : `:${line}`}: ${what}`} />
          </li>
        ))}
      </ul>
    </details>
  );
}
