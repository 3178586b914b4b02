import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { Icon } from "../../parts/icon.tsx";
import type { Draft } from "../../parts/use-draft.ts";
import { Foreign } from "../../text/foreign.tsx";
import { placeFor } from "./place-for.ts";

interface Props {
  readonly draft: Draft;
  readonly id: string;
  readonly process: string;
  readonly isOpen: boolean;
  /** Why the session cannot be continued. */
  readonly problem: string | null;
  onSent(): void;
}

/** Sends a message to the session; one that is not open is resumed first. */
export function MessageBox({ draft, id, process, isOpen, problem, onSent }: Props) {
  const { store } = usePage();
  const text = draft.get();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    try {
      if (isOpen) {
        const { queued } = await store.api.person(process, "message", { session_id: id, message: text });
        if (queued) store.say("Queued: the agent reads it at its next step.");
      } else {
        const place = placeFor(store, process);
        await store.api.person(place.process, "resume", { session_id: id, root: place.root, message: text });
      }
      draft.set("");
      await store.refresh();
      onSent();
    } catch (cause) {
      store.fail(cause);
    } finally {
      setBusy(false);
    }
  };
  if (problem)
    return (
      <p class="message-box calm">
        <Foreign text={problem} />
      </p>
    );
  const isReader = store.me.value?.access === "read";
  return (
    <form
      class="message-box"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        class="input"
        rows={2}
        aria-label="Message to the agent"
        placeholder={isOpen ? "Message to the agent" : "Continue this session with a message"}
        value={text}
        disabled={isReader}
        onInput={({ currentTarget }) => draft.set(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <button
        type="submit"
        class="button primary icon-only"
        aria-label="Send"
        disabled={busy || isReader || text.trim() === ""}
      >
        <Icon name="send" />
      </button>
    </form>
  );
}
