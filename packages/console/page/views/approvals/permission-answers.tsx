import { useRef, useState } from "preact/hooks";
import type { WaitingQuestion } from "../../data/roster.ts";
import type { Answering } from "../../data/store.ts";
import { useKeys } from "../../shell/use-keys.ts";
import { Coded } from "../../text/coded.tsx";

interface Props {
  readonly question: WaitingQuestion;
  readonly busy: boolean;
  readonly mayAnswer: boolean;
  /** The person has seen the end of the question; before that, only a denial counts. */
  readonly isSeen: boolean;
  onAnswer(answer: Answering): void;
}

/** Once, for the session, always, or no; with what each of them would allow. */
export function PermissionAnswers({ question, busy, mayAnswer, isSeen, onAnswer }: Props) {
  const [reason, setReason] = useState("");
  const always = useRef<HTMLButtonElement>(null);
  const offers = (answer: string) => (question.choices as readonly string[]).includes(answer);
  const give = (answer: "once" | "session" | "always" | "deny") => {
    if (!mayAnswer || busy || !offers(answer)) return;
    onAnswer({ answer, ...(answer === "deny" && reason !== "" && { reason }) });
  };
  useKeys({
    o: { help: "Allow once", run: () => give("once") },
    s: { help: "Allow for the session", run: () => give("session") },
    // A standing rule needs a second key: Enter on its button.
    w: { help: "Allow always, then Enter", run: () => always.current?.focus() },
    d: { help: "Deny", run: () => give("deny") },
  });
  const button = (answer: "once" | "session" | "always", label: string, tone = "") =>
    offers(answer) && (
      <button
        type="button"
        class={`button large ${tone}`}
        disabled={busy || !mayAnswer || !isSeen}
        {...(answer === "always" && { ref: always })}
        onClick={() => give(answer)}
      >
        {label}
      </button>
    );
  return (
    <footer class="answers">
      <dl class="grants">
        {offers("session") && (
          <div>
            <dt>Session allows</dt>
            <dd>
              <Coded text={question.session?.join("\n") ?? "exactly this call"} />
            </dd>
          </div>
        )}
        {question.always && (
          <div>
            <dt>Always allows</dt>
            <dd>
              <Coded text={question.always.words.join("\n")} />
            </dd>
          </div>
        )}
      </dl>
      {!mayAnswer && <p class="calm">This page may look but not answer: its token has no admin access.</p>}
      {!isSeen && !busy && <p class="calm unread">There is more: scroll to the end to allow it.</p>}
      <div class="answer-buttons">
        {button("once", "Allow once", "primary")}
        {button("session", "Allow for session")}
        {button("always", "Always allow")}
        <button
          type="button"
          class="button large danger"
          disabled={busy || !mayAnswer}
          onClick={() => give("deny")}
        >
          Deny
        </button>
      </div>
      <label class="deny-reason">
        <span class="unseen">Reason for a denial, which the agent reads</span>
        <input
          class="input"
          value={reason}
          maxLength={1000}
          placeholder="Reason for a denial; Enter denies"
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.isComposing || event.repeat) return;
            event.preventDefault();
            give("deny");
          }}
        />
      </label>
    </footer>
  );
}
