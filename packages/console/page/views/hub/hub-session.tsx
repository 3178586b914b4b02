import { useState } from "preact/hooks";
import type { SessionEvent } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";
import { DiffText } from "../../diff/diff-view.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Tabs } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useDraft } from "../../parts/use-draft.ts";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted } from "../../text/format.ts";
import { MessageField } from "../sessions/message-field.tsx";
import { toTranscript } from "../sessions/transcript.ts";
import { TranscriptView } from "../sessions/transcript-view.tsx";
import { HUB, type HubSession } from "./hub-data.ts";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";
import { useHubSession } from "./use-hub-session.ts";
import "../sessions/sessions.css";

const PARTS = [
  ["transcript", "Transcript"],
  ["changes", "Changes"],
] as const;
type Part = (typeof PARTS)[number][0];

const NOTHING_LIVE = { text: "", thinking: "", after: 0 };

interface Props {
  readonly session: HubSession;
  readonly project_id: string;
  readonly workspace: string;
}

/** The events and changes of a hub's session; its work is merged here. */
export function HubSessionDetail({ session: { session_id, workspace_id }, project_id, workspace }: Props) {
  const { store, router } = usePage();
  const { session, error } = useHubSession(session_id);
  const draft = useDraft(`message ${session_id}`);
  const [busy, setBusy] = useState(false);
  const part: Part = router.route.value.query["part"] === "changes" ? "changes" : "transcript";
  const run = (work: () => Promise<string>) => async () => {
    setBusy(true);
    await work().then(store.say, store.fail);
    setBusy(false);
  };
  const send = run(async () => {
    await store.api.data(HUB, "session.message", { session_id, message: draft.get() });
    draft.set("");
    return "Sent.";
  });
  const end = run(async () => {
    await store.api.data(HUB, "session.end", { session_id });
    return "Ended. Its workspace and its events stay.";
  });
  const merge = run(async () => {
    const outcome = await store.api.data<Merged>(HUB, "workspace.merge", { workspace_id });
    return describeMerge(outcome);
  });
  if (error !== undefined) return <Problem error={error} />;
  if (!session) return <Loading />;
  const isReader = store.me.value?.access === "read";
  const isWorking = session.state === "working";
  return (
    <article class="session" aria-label="Session">
      <header class="session-head">
        <div class="session-title">
          <a
            class="button icon-only quiet"
            href={toHash("hub", "sessions", { project: project_id })}
            aria-label="Back to the list"
          >
            <Icon name="back" />
          </a>
          <h2>
            <Foreign text={titleOf(session.events) ?? workspace} oneLine />
          </h2>
        </div>
        <p class="session-facts number">
          <Badge tone={isWorking ? "accent" : session.problem ? "bad" : "plain"}>
            {session.outcome && !isWorking ? `${session.state}, ${session.outcome}` : session.state}
          </Badge>
          <Foreign text={workspace} oneLine />
          {session.problem && <Foreign text={session.problem} />}
        </p>
        <div class="session-actions">
          {session.state !== "ended" && (
            <button type="button" class="button danger" disabled={busy || isReader} onClick={end}>
              <Icon name="stop" />
              End
            </button>
          )}
          <button type="button" class="button" disabled={busy || isReader || isWorking} onClick={merge}>
            Merge
          </button>
        </div>
      </header>
      <Tabs<Part>
        label="Parts of the session"
        value={part}
        options={PARTS}
        onChange={(next) => router.filter({ part: next === "transcript" ? undefined : next })}
      >
        {part === "transcript" ? (
          <TranscriptView
            entries={toTranscript(session.events).entries}
            live={NOTHING_LIVE}
            isWorking={isWorking}
          />
        ) : (
          <Changes workspace_id={workspace_id} />
        )}
      </Tabs>
      {part === "transcript" && session.state !== "ended" && (
        <MessageField
          draft={draft}
          placeholder="Message to the agent"
          isBusy={busy}
          onSend={() => void send()}
        />
      )}
    </article>
  );
}

const titleOf = (events: readonly SessionEvent[]): string | undefined => {
  const title = events.findLast(({ type }) => type === "title")?.["title"];
  return typeof title === "string" ? title : undefined;
};

interface Diff {
  readonly patch: string;
  readonly note?: string;
  readonly incomplete?: string;
}

function Changes({ workspace_id }: { readonly workspace_id: string }) {
  const loaded = useHub<Diff>("workspace.diff", { workspace_id });
  return (
    <Shown loaded={loaded}>
      {({ patch, note, incomplete }) => (
        <>
          {patch === "" ? (
            <Empty icon="files" title="No changes yet">
              What the session commits in its workspace appears here.
            </Empty>
          ) : (
            <DiffText text={patch} />
          )}
          {[note, incomplete].map(
            (text) =>
              text && (
                <p key={text} class="part-note">
                  <Foreign text={text} />
                </p>
              ),
          )}
        </>
      )}
    </Shown>
  );
}

interface Merged {
  readonly merged: boolean;
  readonly into: string;
  readonly conflicts: readonly string[];
  readonly pushed: boolean;
  readonly warning?: string;
  readonly note?: string;
}

function describeMerge({ merged, into, conflicts, pushed, warning, note }: Merged): string {
  if (conflicts.length > 0)
    return `Not merged: ${counted(conflicts.length, "file")} changed on both sides (${conflicts.join(", ")}). ${note ?? ""}`;
  if (!merged) return note ?? "Nothing was merged.";
  const told = pushed ? `Merged into ${into} and pushed.` : `Merged into ${into}, not pushed.`;
  return [told, warning, note].filter(Boolean).join(" ");
}
