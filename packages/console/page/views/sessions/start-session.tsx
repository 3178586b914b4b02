import { useState } from "preact/hooks";
import type { ConsoleActions, SessionRow } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";
import { isHub } from "../../data/roster.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useDraft } from "../../parts/use-draft.ts";
import { toVisible } from "../../text/visible.ts";

type Mode = NonNullable<ConsoleActions["start"]["input"]["mode"]>;

/** As `MODES` of the core describes them. */
const MODES: Readonly<Record<Mode, string>> = {
  ask: "Ask before changes and commands",
  edits: "Edit files of the workspace without asking",
  sandbox: "Also run commands that the sandbox confines, without network",
  plan: "Only read",
};

interface Props {
  /** Newest first: their folders and models are offered. */
  readonly sessions: readonly SessionRow[];
  onClose(): void;
}

/** Starts the agent in a folder of this machine. */
export function StartSession({ sessions, onClose }: Props) {
  const { store, router } = usePage();
  const processes = store.processes.value ?? [];
  const own = processes.find(({ id }) => id === store.me.value?.process);
  const roots = processes.filter((process) => !isHub(process)).flatMap((process) => process.roots);
  // People mostly continue where they worked last.
  const folders = [...new Set([...sessions.map(({ cwd }) => cwd), ...(own?.roots ?? []), ...roots])];
  const models = [...new Set(sessions.map((session) => session.model))].filter(Boolean);
  const drafts = {
    message: useDraft("start message"),
    folder: useDraft("start folder"),
    model: useDraft("start model"),
    mode: useDraft("start mode"),
  };
  const [root, setRoot] = useState(drafts.folder.get() || folders[0] || "");
  const message = drafts.message.get();
  const model = drafts.model.get();
  const mode = drafts.mode.get();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = async (event: Event) => {
    event.preventDefault();
    const process = store.me.value?.process;
    if (process === undefined || busy || message.trim() === "") return;
    setBusy(true);
    setError(undefined);
    try {
      const { session_id } = await store.api.person(process, "start", {
        message,
        root,
        ...(model !== "" && { model }),
        // The options of the list are these modes.
        ...(mode !== "" && { mode: mode as Mode }),
      });
      for (const draft of Object.values(drafts)) draft.set("");
      await store.refresh();
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
        <Field id="start-message" label="Task" help="Ctrl+Enter starts it.">
          <textarea
            id="start-message"
            class="input"
            rows={4}
            required
            data-first
            placeholder="Make npm test pass."
            value={message}
            onInput={({ currentTarget }) => drafts.message.set(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
                event.currentTarget.form?.requestSubmit();
            }}
          />
        </Field>
        <Field id="start-folder" label="Folder">
          <input
            id="start-folder"
            class="input"
            list="start-folders"
            spellcheck={false}
            required
            value={root}
            onInput={({ currentTarget }) => {
              setRoot(currentTarget.value);
              drafts.folder.set(currentTarget.value);
            }}
          />
          <Suggestions id="start-folders" values={folders} />
        </Field>
        <Field id="start-mode" label="Mode">
          <select
            id="start-mode"
            class="input"
            value={mode}
            onChange={({ currentTarget }) => drafts.mode.set(currentTarget.value)}
          >
            <option value="">The default of your settings</option>
            {Object.entries(MODES).map(([name, summary]) => (
              <option key={name} value={name}>
                {`${name}: ${summary}`}
              </option>
            ))}
          </select>
        </Field>
        <Field id="start-model" label="Model">
          <input
            id="start-model"
            class="input"
            list="start-models"
            spellcheck={false}
            placeholder="The default of your settings"
            value={model}
            onInput={({ currentTarget }) => drafts.model.set(currentTarget.value)}
          />
          <Suggestions id="start-models" values={models} />
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

const Suggestions = ({ id, values }: { readonly id: string; readonly values: readonly string[] }) => (
  <datalist id={id}>
    {values.map((value) => (
      <option key={value} value={toVisible(value)} />
    ))}
  </datalist>
);
