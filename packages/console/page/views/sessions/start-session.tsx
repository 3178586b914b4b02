import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useDraft } from "../../parts/use-draft.ts";
import { toVisible } from "../../text/visible.ts";

/** Starts the agent in one of the folders of the running processes. */
export function StartSession({ onClose }: { onClose(): void }) {
  const { store, router } = usePage();
  const processes = store.processes.value ?? [];
  const folders = [...new Set(processes.flatMap(({ roots }) => roots))];
  const own = processes.find(({ id }) => id === store.me.value?.process);
  const [folder, setFolder] = useState(own?.roots[0] ?? folders[0] ?? "");
  const draft = useDraft("task");
  const message = draft.get();
  const [model, setModel] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = async (event: Event) => {
    event.preventDefault();
    const process = store.me.value?.process;
    if (process === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const { session_id } = await store.api.person(process, "start", {
        message,
        root: folder,
        ...(model !== "" && { model }),
      });
      draft.set("");
      await store.refresh();
      onClose();
      router.go("sessions", session_id, { process });
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      <form class="form" onSubmit={start}>
        <Field id="start-message" label="Task">
          <textarea
            id="start-message"
            class="input"
            rows={4}
            required
            placeholder="Make npm test pass."
            value={message}
            autofocus
            onInput={({ currentTarget }) => draft.set(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
                event.currentTarget.form?.requestSubmit();
            }}
          />
        </Field>
        <Field id="start-folder" label="Folder">
          <select
            id="start-folder"
            class="input"
            value={folder}
            onChange={({ currentTarget }) => setFolder(currentTarget.value)}
          >
            {folders.map((one) => (
              <option key={one} value={one}>
                {toVisible(one)}
              </option>
            ))}
          </select>
        </Field>
        <Field id="start-model" label="Model">
          <input
            id="start-model"
            class="input"
            placeholder="The default of your settings"
            value={model}
            onInput={({ currentTarget }) => setModel(currentTarget.value)}
          />
        </Field>
        {error !== undefined && <Problem error={error} />}
        <div class="answer-buttons">
          <button type="submit" class="button large primary" disabled={busy || message.trim() === ""}>
            Start
          </button>
        </div>
      </form>
    </Dialog>
  );
}
