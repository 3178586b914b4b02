import { useState } from "preact/hooks";
import type { Checkpoint, FileChanges } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";
import { ChangesPreview } from "../../parts/changes-preview.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { draftOf } from "../../parts/use-draft.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted } from "../../text/format.ts";

interface Props {
  readonly id: string;
  readonly process: string;
  readonly checkpoints: readonly Checkpoint[];
  /** The whole message of a checkpoint. */
  messageAt(seq: number): string;
  onDone(): void;
}

/** Every message of the person is a place to go back to; the diff is shown first. */
export function Checkpoints({ id, process, checkpoints, messageAt, onDone }: Props) {
  const { store, router } = usePage();
  const [chosen, setChosen] = useState<{ readonly checkpoint: Checkpoint; readonly changes: FileChanges }>();
  const isReader = store.me.value?.access === "read";
  const look = async (checkpoint: Checkpoint) => {
    try {
      const changes = await store.api.person(process, "rewind", {
        session_id: id,
        seq: checkpoint.seq,
        apply: false,
      });
      setChosen({ checkpoint, changes });
    } catch (cause) {
      store.fail(cause);
    }
  };
  const undo = async (andFork: boolean) => {
    if (!chosen) return;
    const { seq } = chosen.checkpoint;
    try {
      const done = await store.api.person(process, "rewind", { session_id: id, seq, apply: true });
      setChosen(undefined);
      const left = done.conflicts.length;
      const except = left === 0 ? "" : `, except ${counted(left, "file")} that was left alone`;
      store.say(`The files are as they were before that message${except}.`);
      onDone();
      if (!andFork) return;
      const { session_id } = await store.api.person(process, "fork", { session_id: id, before: seq });
      draftOf(`message ${session_id}`).set(messageAt(seq));
      router.go("sessions", session_id, { process });
    } catch (cause) {
      store.fail(cause);
    }
  };
  if (checkpoints.length === 0)
    return (
      <Empty icon="undo" title="Nothing to undo">
        Every message of yours becomes a checkpoint. There is none in this session yet.
      </Empty>
    );
  return (
    <div class="checkpoints">
      <p class="calm">Go back to the files as they were before a message. You see the diff first.</p>
      <ul class="plain-list">
        {[...checkpoints].reverse().map((checkpoint) => (
          <li key={checkpoint.seq}>
            <span class="roster-main">
              <span class="roster-title">
                <Foreign text={checkpoint.text} oneLine />
              </span>
              <span class="roster-detail">
                {checkpoint.turns === 0
                  ? "No file has changed since"
                  : `${counted(checkpoint.turns, "turn")} changed files since`}
              </span>
            </span>
            <button
              type="button"
              class="button"
              disabled={isReader || checkpoint.turns === 0}
              onClick={() => look(checkpoint)}
            >
              <Icon name="undo" />
              Undo to here
            </button>
          </li>
        ))}
      </ul>
      {chosen && (
        <Dialog title="Undo to this message" onClose={() => setChosen(undefined)} wide>
          <blockquote class="checkpoint-text">
            <Foreign text={chosen.checkpoint.text} />
          </blockquote>
          <ChangesPreview changes={chosen.changes} />
          <div class="answer-buttons">
            <button type="button" class="button large primary" onClick={() => undo(false)}>
              Undo the files
            </button>
            <button type="button" class="button large" onClick={() => undo(true)}>
              Undo and continue in a copy
            </button>
            <button type="button" class="button large quiet" onClick={() => setChosen(undefined)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
