import { useState } from "preact/hooks";
import type { CallAnswer, CallDetail } from "../../../src/api.ts";
import { Failed } from "../../data/api.ts";
import type { LiveCall } from "../../data/call-log.ts";
import { useLoad, usePage } from "../../data/context.ts";
import { isCallable, originOf } from "../../data/roster.ts";
import type { Store } from "../../data/store.ts";
import { hasChange } from "../../diff/has-change.ts";
import { Badge } from "../../parts/badge.tsx";
import { Tabs } from "../../parts/choices.tsx";
import { CopyButton } from "../../parts/command.tsx";
import { Detail } from "../../parts/detail.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Json } from "../../parts/json.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Picture } from "../../parts/picture.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes, toClock, toDuration } from "../../text/format.ts";
import { toCommand } from "./to-command.ts";

const CallDiff = lazy(async () => (await import("../../diff/call-diff.tsx")).CallDiff);

type Part = "answer" | "request" | "diff";

interface Props {
  readonly trace: string;
  readonly call: LiveCall | undefined;
  onClose(): void;
}

/** One call with its whole request and envelope. */
export function CallPanel({ trace, call, onClose }: Props) {
  const { store, router } = usePage();
  const named = call?.process ?? router.route.value.query["process"];
  const isRunning = call !== undefined && call.code === undefined;
  const {
    data: found,
    error,
    reload,
  } = useLoad(store.processes.value && !isRunning ? `${named} ${trace}` : undefined, (signal) =>
    findCall(store, named, trace, signal),
  );
  const data = found?.detail;
  const name = data ? `${data.tool}.${data.action}` : call ? `${call.tool}.${call.action}` : trace;
  const code = data?.code ?? call?.code;
  return (
    <Detail class="panel" label="Call" isPanel>
      <header class="panel-head">
        <h2>
          <Foreign text={name} oneLine />
        </h2>
        {code !== undefined && <Badge tone={code === "OK" ? "good" : "bad"}>{code}</Badge>}
        <button type="button" class="button icon-only quiet panel-close" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <dl class="panel-facts">
        <Fact name="Caller" text={data?.caller ?? call?.caller ?? ""} />
        <Fact name="Started" text={call || data ? toClock(data?.started_at ?? call?.started_at ?? 0) : ""} />
        {call && <Fact name="From" text={originOf(call, store.origins.value)} />}
        <Fact name="Duration" text={toDuration(data?.duration_ms ?? call?.duration_ms ?? Number.NaN)} />
        <Fact name="Trace" text={trace} isWhole />
      </dl>
      {isRunning && <p class="calm panel-note">It is still running. Its answer appears here when it ends.</p>}
      {error !== undefined &&
        (isGone(error) ? <Gone trace={trace} process={named} /> : <Problem error={error} retry={reload} />)}
      {!isRunning && error === undefined && !data && <Loading />}
      {found && <Content {...found} />}
    </Detail>
  );
}

const isGone = (error: unknown): boolean => error instanceof Failed && error.code === "NOT_FOUND";

/** Calls are remembered only while a console is open; the audit log has all of them. */
function Gone({ trace, process }: { readonly trace: string; readonly process: string | undefined }) {
  const { store } = usePage();
  return (
    <div class="panel-note">
      <p class="calm">
        The request and the answer of this call are not stored: a process remembers them of its last calls,
        and only while a console is open.
      </p>
      {store.me.value?.project === null && (
        <a class="button" href={toHash("audit", undefined, { q: trace, process })}>
          Show it in the audit log
        </a>
      )}
    </div>
  );
}

/** An address names a call by its trace alone, so every process is asked. */
async function findCall(store: Store, named: string | undefined, trace_id: string, signal: AbortSignal) {
  const all = (store.processes.peek() ?? [])
    .filter((process) => process.state !== "silent" && isCallable(process))
    .map(({ id }) => id);
  let failed: unknown;
  for (const process of named === undefined ? all : [named]) {
    try {
      return { process, detail: await store.api.person(process, "call", { trace_id }, signal) };
    } catch (cause) {
      failed ??= cause;
    }
  }
  throw failed ?? new Failed("NOT_FOUND", "No process is running.");
}

interface FactProps {
  readonly name: string;
  readonly text: string;
  /** Has a line of its own. */
  readonly isWhole?: boolean;
}

function Fact({ name, text, isWhole }: FactProps) {
  return (
    <div class={isWhole ? "whole" : undefined}>
      <dt>{name}</dt>
      <dd class="number">
        <Foreign text={text} oneLine />
      </dd>
    </div>
  );
}

function Content({ detail, process }: { readonly detail: CallDetail; readonly process: string }) {
  const input = detail.request.value;
  const hasDiff = hasChange(input) || Object(Object(detail.envelope.value).data).diff !== undefined;
  const [part, setPart] = useState<Part>(hasDiff ? "diff" : "answer");
  const parts: (readonly [Part, string])[] = [
    ["answer", `Answer  ${toBytes(detail.envelope.bytes)}`],
    ["request", `Request  ${toBytes(detail.request.bytes)}`],
  ];
  return (
    <>
      <div class="panel-actions">
        <CopyButton text={toCommand(detail.tool, detail.action, input)} label="Copy as a command">
          Copy as octant call
        </CopyButton>
        <RunAgain detail={detail} process={process} />
      </div>
      {detail.pictures.map(({ mime, base64 }, index) => (
        <Picture key={index} mime={mime} base64={base64} />
      ))}
      <Tabs
        label="Parts of the call"
        value={part}
        options={hasDiff ? [["diff", "Change"], ...parts] : parts}
        onChange={setPart}
      >
        <div class="panel-part">
          {part === "diff" && <CallDiff input={input} envelope={detail.envelope.value} />}
          {part === "request" && <Json label="Request" value={detail.request.value ?? detail.request.cut} />}
          {part === "answer" && <Json label="Answer" value={detail.envelope.value ?? detail.envelope.cut} />}
        </div>
      </Tabs>
    </>
  );
}

function RunAgain({ detail, process }: { readonly detail: CallDetail; readonly process: string }) {
  const { store } = usePage();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<CallAnswer>();
  const run = async () => {
    setBusy(true);
    try {
      setAnswer(await store.api.call(process, detail.tool, detail.action, Object(detail.request.value)));
    } catch (cause) {
      store.fail(cause);
    } finally {
      setBusy(false);
    }
  };
  const close = () => {
    setAsking(false);
    setAnswer(undefined);
  };
  const isWhole = detail.request.value !== undefined;
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={!isWhole || store.me.value?.access === "read"}
        onClick={() => setAsking(true)}
      >
        <Icon name="again" />
        Run again
      </button>
      {asking && (
        <Dialog
          title={`Run ${detail.tool}.${detail.action} again`}
          onClose={close}
          wide={answer !== undefined}
        >
          {answer ? (
            <>
              <p>
                <Badge tone={answer.envelope.ok ? "good" : "bad"}>
                  {answer.envelope.error?.code ?? "OK"}
                </Badge>
              </p>
              {answer.attachments
                .filter(({ kind }) => kind === "image")
                .map(({ mime, base64 }, index) => (
                  <Picture key={index} mime={mime} base64={base64} />
                ))}
              <Json label="Answer" value={answer.envelope} />
            </>
          ) : (
            <>
              <p>The same call runs now, with your rights and with all rules, hooks and questions:</p>
              <Json label="Request" value={detail.request.value} />
              <div class="answer-buttons">
                <button type="button" class="button large primary" disabled={busy} onClick={run}>
                  Run it
                </button>
                <button type="button" class="button large" onClick={close}>
                  Cancel
                </button>
              </div>
            </>
          )}
        </Dialog>
      )}
    </>
  );
}
