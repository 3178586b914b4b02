import type { OctantProcess } from "../../../src/api.ts";
import { isHub, projectOf, type RosterEntry } from "../../data/roster.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, Dot } from "../../parts/badge.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toCost } from "../../text/format.ts";

const DOTS = { "needs input": "warn", working: "accent", done: "plain" } as const;

export function RosterRow({ entry: { process, session, group } }: { readonly entry: RosterEntry }) {
  const href = session
    ? toHash("sessions", session.session_id, { process: process.id })
    : isHub(process)
      ? toHash("hub")
      : toHash("live", undefined, { process: process.id });
  return (
    <li>
      <a class="roster-row" href={href}>
        <Dot tone={process.state === "silent" ? "bad" : DOTS[group]} moving={group === "working"} />
        <span class="roster-main">
          <span class="roster-title">
            <Foreign text={session ? session.title || "Untitled session" : projectOf(process)} oneLine />
          </span>
          <span class="roster-detail">
            <Foreign text={detailOf(process, session !== undefined)} oneLine />
          </span>
        </span>
        <span class="roster-facts">
          {process.state === "silent" && <Badge tone="bad">Not responding</Badge>}
          {session ? <SessionFacts session={session} /> : <ProcessFacts process={process} />}
        </span>
      </a>
    </li>
  );
}

function SessionFacts({ session }: { readonly session: NonNullable<RosterEntry["session"]> }) {
  return (
    <>
      {session.model && <Badge>{session.model}</Badge>}
      {session.turns === 0 ? (
        <span class="number">not started</span>
      ) : (
        <>
          <span class="number">{counted(session.turns, "turn")}</span>
          <span class="number">{toCost(session.cost)}</span>
        </>
      )}
    </>
  );
}

function ProcessFacts({ process }: { readonly process: OctantProcess }) {
  return (
    <>
      {process.running_calls > 0 && (
        <span class="number">{counted(process.running_calls, "call")} running</span>
      )}
      {process.started_at !== "" && (
        <span class="number">
          up <Ago at={process.started_at} />
        </span>
      )}
    </>
  );
}

function detailOf(process: OctantProcess, isSession: boolean): string {
  const project = isSession ? [projectOf(process)] : [];
  const clients = process.clients.length > 0 ? [process.clients.slice(0, 2).join(", ")] : [];
  return [...project, ...clients, `octant ${process.command}`, `pid ${process.pid}`].join("  ·  ");
}
