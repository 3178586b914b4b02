import { usePage } from "../../data/context.ts";
import { GROUPS, groupRoster, isInRoster, type RosterEntry } from "../../data/roster.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { counted } from "../../text/format.ts";
import { QuestionLine } from "./question-line.tsx";
import { RosterRow } from "./roster-row.tsx";
import "./now.css";

const TITLES: Readonly<Record<RosterEntry["group"], string>> = {
  "needs input": "Needs input",
  working: "Working",
  done: "Done or idle",
};

/** All agents with their current work, and everything that waits for a person. */
export function NowView() {
  const { store } = usePage();
  const processes = store.processes.value;
  const questions = store.questions.value;
  useKeys({
    j: { help: "Next line", run: () => moveFocus(1) },
    k: { help: "Previous line", run: () => moveFocus(-1) },
    ArrowDown: { run: () => moveFocus(1) },
    ArrowUp: { run: () => moveFocus(-1) },
  });
  if (!processes) return <Loading />;
  const groups = groupRoster(processes.filter(isInRoster));
  const total = GROUPS.reduce((sum, group) => sum + groups[group].length, 0);
  return (
    <>
      <ViewHead title="Now" detail={summarize(groups)} />
      <div class="view-body columns-now">
        <section aria-labelledby="waiting-title">
          <h2 id="waiting-title" class="section-title">
            Waiting for you {questions.length > 0 && <span class="count">{questions.length}</span>}
          </h2>
          {questions.length === 0 ? (
            <p class="calm">
              Nothing waits for you. Questions of every agent{" "}
              {store.me.value?.hub ? "of this hub" : "on this machine"} appear here.
            </p>
          ) : (
            <ul class="plain-list">
              {questions.map((question) => (
                <QuestionLine key={question.question_id} question={question} />
              ))}
            </ul>
          )}
        </section>
        <div class="roster">
          {total === 0 && (
            <Empty icon="now" title="No agent is running" command="octant">
              Start the agent in a project, or let your editor start a server with octant setup. It appears
              here by itself.
            </Empty>
          )}
          {GROUPS.filter((group) => groups[group].length > 0).map((group) => (
            <section key={group} aria-label={TITLES[group]}>
              <h2 class="section-title">
                {TITLES[group]} <span class="quiet-count">{groups[group].length}</span>
              </h2>
              <ul class="plain-list">
                {groups[group].map((entry) => (
                  <RosterRow key={entry.session?.session_id ?? entry.process.id} entry={entry} />
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </>
  );
}

/** Among the questions and the roster; Enter opens the line, as every link. */
function moveFocus(by: number): void {
  const lines = [...document.querySelectorAll<HTMLElement>(".question-line, .roster-row")];
  const at = lines.findIndex((line) => line.matches(":focus"));
  lines[Math.max(0, Math.min(lines.length - 1, at + by))]?.focus();
}

function summarize(groups: ReturnType<typeof groupRoster>): string {
  const parts = [
    groups.working.length > 0 && `${groups.working.length} working`,
    groups["needs input"].length > 0 && `${groups["needs input"].length} waiting for you`,
    groups.done.length > 0 && `${groups.done.length} idle`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : counted(0, "process", "processes");
}
