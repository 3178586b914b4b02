import type { DoctorCheck, HealthState } from "../../../src/api.ts";
import { useLoad, usePage, useProcess } from "../../data/context.ts";
import { hasTool } from "../../data/roster.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ProcessPicker } from "../../parts/process-picker.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toBytes, toDuration } from "../../text/format.ts";
import "./health.css";

/** How fast calls are, what fails, and what this machine lacks. */
export function HealthView() {
  const { store } = usePage();
  const process = useProcess();
  const health = useLoad(process ? `health ${process.id}` : undefined, (signal) =>
    store.api.person(process?.id ?? "", "health", {}, signal),
  );
  const doctor = useLoad(process ? `doctor ${process.id}` : undefined, (signal) =>
    store.api.person(process?.id ?? "", "doctor", {}, signal),
  );
  const index = useLoad(process && hasTool(process, "search") ? `index ${process.id}` : undefined, (signal) =>
    store.api.data<IndexState>(process?.id ?? "", "search.status", {}, signal),
  );
  const refresh = () => {
    health.reload();
    index.reload();
    doctor.reload();
  };
  if (!process)
    return (
      <>
        <ViewHead title="Health" />
        <Empty icon="health" title="No process is running" command="octant doctor">
          In a terminal, this checks your machine and project:
        </Empty>
      </>
    );
  return (
    <>
      <ViewHead title="Health">
        <ProcessPicker />
        <button type="button" class="button" onClick={refresh}>
          <Icon name="again" />
          Refresh
        </button>
      </ViewHead>
      <div class="view-body part-body">
        {health.error !== undefined && <Problem error={health.error} retry={refresh} />}
        {!health.data && health.error === undefined && <Loading />}
        {health.data && <Figures health={health.data} index={index.data} />}
        {health.data && <Latencies health={health.data} />}
        <h2>Capabilities</h2>
        {doctor.error !== undefined && <Problem error={doctor.error} retry={refresh} />}
        {!doctor.data && doctor.error === undefined && <Loading label="Checking this machine" />}
        {doctor.data && <Checks checks={doctor.data.checks} />}
      </div>
    </>
  );
}

interface IndexState {
  readonly state: string;
  readonly files: number;
  readonly total: number | null;
}

interface FiguresProps {
  readonly health: HealthState;
  readonly index: IndexState | undefined;
}

function Figures({ health, index }: FiguresProps) {
  const { pid, version, node, platform, uptime_s, memory, cpu_ms } = health;
  return (
    <dl class="figures">
      <Figure name="Memory" value={toBytes(memory.rss)} detail={`${toBytes(memory.heap_used)} heap`} />
      <Figure name="CPU time" value={toDuration(cpu_ms)} detail={`up ${toDuration(uptime_s * 1_000)}`} />
      <Figure
        name="Index"
        value={index?.state ?? "off"}
        detail={index ? toCovered(index) : "The search tool is not enabled"}
      />
      <Figure
        name="Version"
        value={version}
        detail={`Node ${node.replace("v", "")}, ${platform}, pid ${pid}`}
      />
    </dl>
  );
}

/** How much of the project is in the index; the total is known once it was counted. */
const toCovered = ({ state, files, total }: IndexState): string =>
  state === "stale"
    ? `${counted(files, "file")}; the next search updates it`
    : total === null
      ? counted(files, "file")
      : `${files.toLocaleString("en")} of ${counted(total, "file")}`;

function Figure({
  name,
  value,
  detail,
}: {
  readonly name: string;
  readonly value: string;
  readonly detail: string;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="figure-value number">
        <Foreign text={value} oneLine />
      </dd>
      <dd class="calm number">
        <Foreign text={detail} oneLine />
      </dd>
    </div>
  );
}

function Latencies({ health: { latencies, since } }: { readonly health: HealthState }) {
  if (latencies.length === 0) return <p class="calm">No calls are recorded yet.</p>;
  const slowest = Math.max(...latencies.map(({ p99 }) => p99), 1);
  return (
    <>
      <h2>
        Calls{" "}
        <span class="calm">
          of all processes in this project
          {since && (
            <>
              {" "}
              in the last <Ago at={since} />, waiting for answers included
            </>
          )}
        </span>
      </h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Latencies">
        <table class="table latencies">
          <thead>
            <tr>
              <th>Action</th>
              <th class="right">Calls</th>
              <th class="right">Errors</th>
              <th class="right">p50</th>
              <th class="right wide-only">p90</th>
              <th class="right">p99</th>
              <th class="right wide-only">Slowest</th>
              <th class="wide-column wide-only">p50 and p99, logarithmic</th>
            </tr>
          </thead>
          <tbody>
            {latencies.map((row) => (
              <tr key={row.action}>
                <td>
                  <code>
                    <Foreign text={row.action} />
                  </code>
                </td>
                <td class="right">{row.calls.toLocaleString("en")}</td>
                <td class={row.errors > 0 ? "right bad-text" : "right"}>
                  {row.errors === 0 ? "0" : `${row.errors} (${Math.round((100 * row.errors) / row.calls)} %)`}
                </td>
                <td class="right">{toDuration(row.p50)}</td>
                <td class="right wide-only">{toDuration(row.p90)}</td>
                <td class="right">{toDuration(row.p99)}</td>
                <td class="right wide-only">{toDuration(row.max)}</td>
                <td class="wide-only">
                  <span class="latency-bar" style={{ width: `${scale(row.p99, slowest)}%` }} />
                  <span class="latency-bar median" style={{ width: `${scale(row.p50, slowest)}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Logarithmic: calls take from microseconds to minutes. */
const scale = (ms: number, slowest: number): number =>
  Math.max(1, (100 * Math.log10(1 + ms)) / Math.log10(1 + slowest));

const TONES = { ok: "good", warn: "warn", fail: "bad" } as const;
const WORDS = { ok: "ok", warn: "could be better", fail: "missing" } as const;

function Checks({ checks }: { readonly checks: readonly DoctorCheck[] }) {
  const troubled = checks.filter(({ status }) => status !== "ok");
  return (
    <>
      <p class="calm">
        {troubled.length === 0
          ? "Everything that this project needs is here."
          : `${counted(troubled.length, "check")} with a remedy`}
      </p>
      <ul class="plain-list checks">
        {[...troubled, ...checks.filter(({ status }) => status === "ok")].map(
          ({ name, status, detail, extra }, index) => (
            <li key={index}>
              <Badge tone={extra && status !== "ok" ? "plain" : TONES[status]}>
                {extra && status !== "ok" ? "optional" : WORDS[status]}
              </Badge>
              <span class="check-name">
                <Foreign text={name} />
              </span>
              <span class="check-detail">
                <Foreign text={detail} />
              </span>
            </li>
          ),
        )}
      </ul>
    </>
  );
}
