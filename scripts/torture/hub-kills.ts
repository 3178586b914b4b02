import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { processesWith } from "../../packages/hub/testing/engine-contract.ts";
import { createSource, git } from "../../packages/hub/testing/open-hub.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { modelOf, startHub } from "../../test/start-hub.ts";
import { createEventReaders, p95 } from "./event-readers.ts";
import type { Torture } from "./report.ts";

const LINES = 4;
export const FILE = "log.txt";
interface Listed {
  readonly workspaces: readonly { readonly workspace_id: string }[];
}

/** What the tools of the workspaces store, in the folder of all workspaces. */
const STATE = ".state";
/** What a session writes. */
export const linesUpTo = (lines: number): string =>
  Array.from({ length: lines }, (_, at) => `${at + 1}\n`).join("");
const MAX_SESSIONS = 50;
/** Kills for each session of the crowd, so that 200 kills meet 50 sessions. */
const KILLS_PER_SESSION = 4;
/** Events of all sessions between two kills. */
const MAX_EVENTS_BETWEEN = 12;

/**
 * A model that checks its progress before each of the lines, and so knows what to do after an interruption. A line takes
 * this many seconds, in which its session is at work and the processor is free.
 */
export const counting =
  (lines: number, seconds = 0): Script =>
  ({ results }) => {
    const run = (command: string) => ({ parts: [{ call: "proc", input: { action: "exec", command } }] });
    const have = /have:(?<lines>[ \d]*)/.exec(results[0]?.text ?? "")?.groups?.["lines"];
    if (have === undefined) return run(`echo have: $(cat ${FILE} 2>/dev/null)`);
    const count = have.trim() === "" ? 0 : have.trim().split(" ").length;
    if (count >= lines) return { parts: [{ text: "All lines are there." }] };
    return run(`${seconds > 0 ? `sleep ${seconds}; ` : ""}echo ${count + 1} >> ${FILE}`);
  };

/**
 * Runs sessions at once and kills the hub -9 among them. Each session must end as planned, and a reader that follows it
 * through all kills must see every event once and in order.
 */
export const hubKills: Torture = (kills, random, onProgress) =>
  killHub(Math.min(MAX_SESSIONS, Math.max(2, Math.ceil(kills / KILLS_PER_SESSION))))(
    kills,
    random,
    onProgress,
  );

/** The same with this many sessions. */
export const killHub =
  (count: number): Torture =>
  async (kills, random, onProgress) => {
    const violations: string[] = [];
    using project = createFixtureProject();
    await using provider = await createScriptedProvider(counting(LINES));
    const source = createSource(join(project.root, ".."));
    const env = { ...project.env, ...modelOf(provider) };
    const start = () => startHub(env, project.root);
    let hub = await start();
    const { project_id } = await hub.call<{ project_id: string }>("project.create", {
      name: "demo",
      folder: source,
      model: "some-model",
      limits: { max_sessions: MAX_SESSIONS },
    });
    const workspaces = new Map<string, string>();
    for (let n = 0; n < count; n++) {
      const message = `Write the lines of session ${n}.`;
      const { session_id, workspace_id } = await hub.call<{ session_id: string; workspace_id: string }>(
        "session.spawn",
        { project_id, message },
      );
      workspaces.set(session_id, workspace_id);
    }
    const following = createEventReaders([...workspaces.keys()], hub);
    const states = async () =>
      (await hub.call<{ sessions: { state: string; outcome?: string }[] }>("session.list", { project_id }))
        .sessions;
    const isOver = async () => !(await states()).some(({ state }) => state === "working");
    let killed = 0;
    for (; killed < kills && !(await isOver()); killed++) {
      await following.grown(1 + Math.floor(random() * MAX_EVENTS_BETWEEN), isOver);
      following.down();
      hub.child.kill("SIGKILL");
      await once(hub.child, "close");
      hub = await start();
      following.up(hub);
      onProgress(killed + 1);
    }
    await following.grown(Number.POSITIVE_INFINITY, isOver);
    await following.close();
    violations.push(...following.problems);
    if (killed < kills) violations.push(`the sessions ended after ${killed} of ${kills} kills`);
    const wrong = (await states()).filter(({ state, outcome }) => state !== "idle" || outcome !== "done");
    for (const session of wrong) violations.push(`a session ended as ${JSON.stringify(session)}`);
    const folder = join(
      project.env["XDG_DATA_HOME"] ?? join(project.env["HOME"] ?? "", ".local", "share"),
      "octant",
      "hub",
    );
    const files = join(folder, "projects", project_id);
    for (const { id, seen } of following.readers) {
      if (!seen.every((seq, at) => seq === at + 1)) violations.push(`${id}: events ${seen.join(" ")}`);
      const place = join(files, "workspaces", workspaces.get(id) ?? "");
      const text = attempt(() => readFileSync(join(place, FILE), "utf8"));
      if (text !== linesUpTo(LINES)) violations.push(`${id}: ${FILE} has ${JSON.stringify(text)}`);
      const committed = attempt(() => git(place, "show", `HEAD:${FILE}`));
      if (committed !== text) violations.push(`${id}: its branch has ${JSON.stringify(committed)}`);
    }
    const listed = await hub.call<Listed>("workspace.list", { project_id });
    const known = new Set([STATE, ...listed.workspaces.map(({ workspace_id }) => workspace_id)]);
    const namesIn = (name: string) => attempt(() => readdirSync(join(files, name))) ?? [];
    const orphans = ["workspaces", join("workspaces", STATE), "staging"].flatMap((name) =>
      namesIn(name).filter((one) => !known.has(one)),
    );
    if (orphans.length > 0) violations.push(`no workspace has ${orphans.join(", ")}`);
    hub.child.kill("SIGTERM");
    const [code] = await once(hub.child, "close");
    if (code !== 0) violations.push(`the hub ended with ${code}`);
    const running = processesWith(folder);
    if (running.length > 0) violations.push(`processes still run: ${running.join(", ")}`);
    const { poll, stream } = following.delays;
    const events = poll.length + stream.length;
    return {
      what: `kill -9 of a hub with ${count} sessions at work`,
      facts: `${killed} kills, ${events} events read in order, p95 of all from event to reader ${p95([...poll, ...stream])} ms (calls that wait ${p95(poll)} ms, streams ${p95(stream)} ms), without the time between a kill and the next start`,
      violations,
    };
  };
