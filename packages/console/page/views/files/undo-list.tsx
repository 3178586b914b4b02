import { useState } from "preact/hooks";
import type { FileChanges, UndoableTurn } from "../../../src/api.ts";
import { useLoad, usePage } from "../../data/context.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { ChangesPreview } from "../../parts/changes-preview.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Foreign } from "../../text/foreign.tsx";

/** Turns of the agent whose file changes can be undone or redone; the diff is shown first. */
export function UndoList({ process }: { readonly process: string }) {
  const { store } = usePage();
  const [chosen, setChosen] = useState<{ readonly turn: UndoableTurn; readonly changes: FileChanges }>();
  const { data, error, reload } = useLoad(process, (signal) =>
    store.api.person(process, "turns", { limit: 200 }, signal),
  );
  const isReader = store.me.value?.access === "read";
  const directionOf = (turn: UndoableTurn) => (turn.undone ? "redo" : "undo");
  const look = (turn: UndoableTurn) =>
    store.api
      .person(process, "undo", { turn: turn.turn, direction: directionOf(turn), apply: false })
      .then((changes) => setChosen({ turn, changes }), store.fail);
  const apply = async () => {
    if (!chosen) return;
    try {
      await store.api.person(process, "undo", {
        turn: chosen.turn.turn,
        direction: directionOf(chosen.turn),
        apply: true,
      });
      store.say(chosen.turn.undone ? "The changes are back." : "The changes are undone.");
      setChosen(undefined);
      reload();
    } catch (cause) {
      store.fail(cause);
    }
  };
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (data.turns.length === 0)
    return (
      <Empty icon="undo" title="Nothing to undo" command="octant undo">
        Turns of the agent that changed files appear here. The same in a terminal:
      </Empty>
    );
  return (
    <div class="checkpoints">
      <ul class="plain-list">
        {data.turns.map((turn) => (
          <li key={turn.turn}>
            <span class="roster-main">
              <span class="roster-title">
                <Foreign text={turn.label || `Turn ${turn.turn}`} oneLine />
              </span>
              <span class="roster-detail">
                <Ago at={turn.at} inWords />
              </span>
            </span>
            {turn.undone && <Badge>undone</Badge>}
            <button type="button" class="button" disabled={isReader} onClick={() => look(turn)}>
              <Icon name="undo" />
              {turn.undone ? "Redo" : "Undo"}
            </button>
          </li>
        ))}
      </ul>
      {chosen && (
        <Dialog
          title={chosen.turn.undone ? "Redo these changes" : "Undo these changes"}
          onClose={() => setChosen(undefined)}
          wide
        >
          <ChangesPreview changes={chosen.changes} />
          <div class="answer-buttons">
            <button type="button" class="button large primary" onClick={apply}>
              {chosen.turn.undone ? "Redo" : "Undo"}
            </button>
            <button type="button" class="button large" onClick={() => setChosen(undefined)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
