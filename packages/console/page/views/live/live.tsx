import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FilteredCalls, type LiveCall } from "../../data/call-log.ts";
import { usePage } from "../../data/context.ts";
import { Segments } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ProcessPicker } from "../../parts/process-picker.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { counted } from "../../text/format.ts";
import { CallPanel } from "./call-panel.tsx";
import { CallRowView, ROW_HEIGHT } from "./call-row.tsx";
import { LiveTimeline } from "./live-timeline.tsx";
import "./live.css";

const STATUSES = [
  ["", "All"],
  ["failed", "Failed"],
  ["running", "Running"],
] as const;

/** Calls of all processes as they happen. */
export function LiveView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const { calls } = store;
  useEffect(() => void store.loadPastCalls(), []);
  const filtered = useMemo(() => new FilteredCalls(calls), []);
  const [pausedAt, setPausedAt] = useState<number>();
  /** Where the list was when it was scrolled away from its top: rows must not move under the reader. */
  const awayAt = useRef<number | undefined>(undefined);
  const [, setAway] = useState(false);
  const filter = { text: query["q"] ?? "", status: query["status"] ?? "", process: query["process"] ?? "" };
  const filterKey = JSON.stringify(filter);
  const drawnFilter = useRef(filterKey);
  // Another filter is another list: it starts at its top.
  if (drawnFilter.current !== filterKey) {
    drawnFilter.current = filterKey;
    awayAt.current = undefined;
  }
  // Read for its subscription: the log itself is not a signal.
  void store.callsChanged.value;
  const until = pausedAt ?? awayAt.current;
  const numbers = filtered.numbers(filter, until);
  const count = numbers.length;
  const callAt = (index: number): LiveCall | undefined => calls.at(numbers[count - 1 - index] ?? Number.NaN);
  const [cursor, setCursor] = useState<number>();
  const selected = cursor === undefined ? -1 : indexFromEnd(numbers, cursor);
  const open = (index: number) => {
    const call = callAt(index);
    if (call) router.go("live", call.trace_id, query);
  };
  const close = () => router.go("live", undefined, query);
  const togglePause = () => setPausedAt((before) => (before === undefined ? calls.end : undefined));
  useKeys({
    p: { help: "Pause or continue", run: togglePause },
    Escape: { run: close },
  });
  const chosen = item === undefined ? undefined : findCall(calls.rows, item);
  const fresh = until === undefined ? 0 : calls.end - until;
  return (
    <>
      <ViewHead title="Live" detail={detailOf(calls.seen, calls.skipped)}>
        <SearchField
          label="Filter calls"
          placeholder="Filter: fs.write conflict"
          value={filter.text}
          onInput={(q) => router.filter({ q })}
        />
        <Segments
          label="Outcome"
          value={filter.status}
          options={STATUSES}
          onChange={(status) => router.filter({ status })}
        />
        <ProcessPicker all />
        <button type="button" class="button" aria-pressed={pausedAt !== undefined} onClick={togglePause}>
          <Icon name={pausedAt === undefined ? "pause" : "play"} />
          {pausedAt === undefined ? "Pause" : "Continue"}
        </button>
      </ViewHead>
      <LiveTimeline process={filter.process} />
      <div class="live-body">
        <div class="live-list">
          {count > 0 && <ListHead />}
          {count > 0 ? (
            <VirtualList
              key={filterKey}
              label="Calls, newest first"
              count={count}
              rowHeight={ROW_HEIGHT}
              selected={selected}
              keyOf={(index) => numbers[count - 1 - index] ?? index}
              onSelect={(index) => setCursor(numbers[count - 1 - index])}
              onOpen={open}
              onAway={(away) => {
                if (away === (awayAt.current !== undefined)) return;
                awayAt.current = away ? calls.end : undefined;
                setAway(away);
              }}
              row={(index) => {
                const call = callAt(index);
                return call && <CallRowView call={call} />;
              }}
            />
          ) : (
            <NoCalls isFiltered={calls.seen > 0 || Object.values(filter).some(Boolean)} />
          )}
          {fresh > 0 && (
            <button
              type="button"
              class="button new-calls"
              onClick={backToTop(() => {
                awayAt.current = undefined;
                setPausedAt(undefined);
              })}
            >
              {counted(fresh, "new call")}
            </button>
          )}
        </div>
        {item !== undefined && <CallPanel key={item} trace={item} call={chosen} onClose={close} />}
      </div>
    </>
  );
}

const backToTop = (then: () => void) => () => {
  then();
  document.querySelector(".live-list .virtual-list")?.scrollTo(0, 0);
};

const detailOf = (seen: number, skipped: number): string =>
  `${counted(seen, "call")}${skipped > 0 ? `, ${counted(skipped, "more", "more")} not listed` : ""}`;

/** The newest row is the first. */
function indexFromEnd(numbers: readonly number[], number: number): number {
  const index = numbers.lastIndexOf(number);
  return index < 0 ? -1 : numbers.length - 1 - index;
}

const findCall = (rows: readonly LiveCall[], trace: string): LiveCall | undefined =>
  rows.findLast(({ trace_id }) => trace_id === trace);

function ListHead() {
  return (
    <div class="call-row list-head" aria-hidden="true">
      <span>Time</span>
      <span>Action</span>
      <span class="call-subject">Subject</span>
      <span class="call-caller">From</span>
      <span class="call-outcome">Outcome</span>
      <span class="right">Duration</span>
      <span class="right call-size">Size</span>
    </div>
  );
}

function NoCalls({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty icon="search" title="No call matches">
        Change the filter, or wait: new calls that match appear here.
      </Empty>
    );
  return (
    <Empty icon="live" title="No calls yet" command="octant call ws.detect">
      Calls of every agent and client appear here while they happen. Try one from a terminal:
    </Empty>
  );
}
