import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import type { Draft } from "../../parts/use-draft.ts";
import { Foreign } from "../../text/foreign.tsx";
import { MessageField } from "./message-field.tsx";
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
  return (
    <MessageField
      draft={draft}
      placeholder={isOpen ? "Message to the agent" : "Continue this session with a message"}
      isBusy={busy}
      onSend={() => void send()}
    />
  );
}
