import { useState } from "preact/hooks";
import type { OpenSession } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";
import { Icon } from "../../parts/icon.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { placeFor } from "./place-for.ts";

interface Props {
  readonly id: string;
  readonly process: string;
  readonly open: OpenSession | undefined;
  readonly isOpen: boolean;
  /** Messages that the agent had not read when it was stopped. */
  onUnread(messages: readonly string[]): void;
  onChanged(): void;
}

/** Stop, resume, fork and export. */
export function SessionActions({ id, process, open, isOpen, onUnread, onChanged }: Props) {
  const { store, router } = usePage();
  const [busy, setBusy] = useState(false);
  const isReader = store.me.value?.access === "read";
  const place = placeFor(store, process);
  const run = (work: () => Promise<void>) => async () => {
    setBusy(true);
    await work().then(store.refresh).then(onChanged, store.fail);
    setBusy(false);
  };
  const stop = run(async () => {
    // A message that was not read before a stop must not be carried out later.
    const { messages: unread } = await store.api.person(process, "take_back", { session_id: id });
    const { stopped } = await store.api.person(process, "stop", { session_id: id });
    store.say(
      unread.length > 0
        ? "Stopped. Messages that it had not read are in the field again."
        : stopped
          ? "Stopped."
          : "It was idle.",
    );
    if (unread.length > 0) onUnread(unread);
  });
  const resume = run(async () => {
    await store.api.person(place.process, "resume", { session_id: id, root: place.root });
    store.say("The session is open again; send it a message.");
  });
  const fork = run(async () => {
    const { session_id } = await store.api.person(place.process, "fork", {
      session_id: id,
      root: place.root,
    });
    store.say("This is the copy; the original stays as it is.");
    router.go("sessions", session_id, { process: place.process });
  });
  const download = run(async () => {
    const { name, mime, text } = await store.api.person(process, "export", {
      session_id: id,
      format: "html",
    });
    saveFile(name, mime, text);
  });
  return (
    <div class="session-actions">
      {open?.state === "working" || open?.state === "waiting" ? (
        <button type="button" class="button danger" disabled={busy || isReader} onClick={stop}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        !isOpen && (
          <button type="button" class="button" disabled={busy || isReader} onClick={resume}>
            <Icon name="play" />
            Resume
          </button>
        )
      )}
      <button type="button" class="button" disabled={busy || isReader} onClick={fork}>
        <Icon name="fork" />
        Fork
      </button>
      <button
        type="button"
        class="button"
        disabled={busy}
        onClick={download}
        title="One HTML file that opens offline"
      >
        <Icon name="download" />
        Export
      </button>
    </div>
  );
}
