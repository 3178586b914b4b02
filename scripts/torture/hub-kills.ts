import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { createSource } from "../../packages/hub/testing/open-hub.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { modelOf, startHub } from "../../test/start-hub.ts";
import type { Torture } from "./report.ts";

const LINES = 4;
export const FILE = "log.txt";
export const EXPECTED = Array.from({ length: LINES }, (_, at) => `${at + 1}\n`).join("");
const MAX_SESSIONS = 50;
/** Kills for each session of the crowd, so that 200 kills meet 50 sessions. */
const KILLS_PER_SESSION = 4;
/** Events of all sessions between two kills. */
const MAX_EVENTS_BETWEEN = 12;

/** A model that checks its progress before each step, and so knows what to do after an interruption. */
export const COUNTING: Script = ({ results }) => {
  const run = (command: string) => ({ parts: [{ call: "proc", input: { action: "exec", command } }] });
  const have = /have:(?<lines>[ \d]*)/.exec(results[0]?.text ?? "")?.groups?.["lines"];
  if (have === undefined) return run(`echo have: $(cat ${FILE} 2>/dev/null)`);
  const count = have.trim() === "" ? 0 : have.trim().split(" ").length;
  if (count >= LINES) return { parts: [{ text: "All lines are there." }] };
  return run(`echo ${count + 1} >> ${FILE}`);
};

interface StoredEvent {
  readonly seq: number;
  readonly at: string;
}

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
    await using provider = await createScriptedProvider(COUNTING);
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
    const sessions: { id: string; workspace_id: string; seen: number[] }[] = [];
    for (let n = 0; n < count; n++) {
      const message = `Write the lines of session ${n}.`;
      const spawned = await hub.call<{ session_id: string; workspace_id: string }>("session.spawn", {
        project_id,
        message,
      });
      sessions.push({ id: spawned.session_id, workspace_id: spawned.workspace_id, seen: [] });
    }
    const delays: number[] = [];
    /** Reads what is new of every session, waiting a little; returns how many events that were. */
    const read = async (): Promise<number> => {
      const added = await Promise.all(
        sessions.map(async ({ id, seen }) => {
          const asked = Date.now();
          const page = await hub.call<{ events: StoredEvent[] }>("session.events", {
            session_id: id,
            since_index: seen.at(-1) ?? 0,
            wait: 500,
          });
          const now = Date.now();
          for (const { seq, at } of page.events) {
            seen.push(seq);
            // Earlier ones waited for this reader, such as while the hub was down.
            if (Date.parse(at) >= asked) delays.push(now - Date.parse(at));
          }
          return page.events.length;
        }),
      );
      return added.reduce((sum, one) => sum + one, 0);
    };
    const states = async () =>
      (await hub.call<{ sessions: { state: string; outcome?: string }[] }>("session.list", { project_id }))
        .sessions;
    let killed = 0;
    for (; killed < kills && (await states()).some(({ state }) => state === "working"); killed++) {
      const wanted = 1 + Math.floor(random() * MAX_EVENTS_BETWEEN);
      for (let got = 0; got < wanted; ) {
        const added = await read();
        got += added;
        if (added === 0 && !(await states()).some(({ state }) => state === "working")) break;
      }
      hub.child.kill("SIGKILL");
      await once(hub.child, "close");
      hub = await start();
      onProgress(killed + 1);
    }
    while ((await states()).some(({ state }) => state === "working")) await read();
    while ((await read()) > 0);
    const wrong = (await states()).filter(({ state, outcome }) => state !== "idle" || outcome !== "done");
    for (const session of wrong) violations.push(`a session ended as ${JSON.stringify(session)}`);
    const folder = join(
      project.env["XDG_DATA_HOME"] ?? join(project.env["HOME"] ?? "", ".local", "share"),
      "octant",
      "hub",
    );
    for (const { id, workspace_id, seen } of sessions) {
      if (!seen.every((seq, at) => seq === at + 1)) violations.push(`${id}: events ${seen.join(" ")}`);
      const place = join(folder, "projects", project_id, "workspaces", workspace_id);
      const text = attempt(() => readFileSync(join(place, FILE), "utf8"));
      if (text !== EXPECTED) violations.push(`${id}: ${FILE} has ${JSON.stringify(text)}`);
    }
    hub.child.kill("SIGTERM");
    const [code] = await once(hub.child, "close");
    if (code !== 0) violations.push(`the hub ended with ${code}`);
    const events = sessions.reduce((sum, { seen }) => sum + seen.length, 0);
    const p95 = delays.toSorted((one, other) => one - other)[Math.floor(delays.length * 0.95)] ?? 0;
    return {
      what: `kill -9 of a hub with ${count} sessions at work`,
      facts: `${killed} kills, ${events} events read in order, p95 from event to waiting reader ${p95} ms (${delays.length} events)`,
      violations,
    };
  };
