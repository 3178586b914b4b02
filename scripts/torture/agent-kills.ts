import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type AgentEvent, Conversation, type StampedEvent } from "@octant/agent";
import { createScriptedProvider, type Script, type ScriptedProvider } from "@octant/scripted-provider";
import { layOutInstall } from "../../bench/install.ts";
import { providerEnvironment } from "../../eval/agent-environment.ts";
import { type AgentHost, placeSession } from "../../test/agent-hosts.ts";
import { createFixtureProject, type FixtureProject } from "../../test/fixture-project.ts";
import { ended, runOctant, startOctant } from "../../test/octant-process.ts";
import type { Report, Torture } from "./report.ts";

const LINES = 6;
const FILE = "log.txt";
const EXPECTED = Array.from({ length: LINES }, (_, at) => `${at + 1}\n`).join("");
/** A model that checks its progress before each step, and so knows what to do after an interruption. */
const COUNTING: Script = ({ results }) => {
  const [last] = results;
  const look = {
    parts: [{ call: "proc", input: { action: "exec", command: `echo have: $(cat ${FILE} 2>/dev/null)` } }],
  };
  const have = /have:(?<lines>[ \d]*)/.exec(last?.text ?? "")?.groups?.["lines"];
  if (have === undefined) return look;
  const count = have.trim() === "" ? 0 : have.trim().split(" ").length;
  if (count >= LINES) return { parts: [{ text: "All lines are there." }] };
  return { parts: [{ call: "proc", input: { action: "exec", command: `echo ${count + 1} >> ${FILE}` } }] };
};
/** About as many as a run without kills has. */
const MAX_EVENTS = 90;
/** About the time between two events. */
const MAX_DELAY_MS = 40;

/** A kill comes this many milliseconds after this many events. */
export interface Moment {
  readonly events: number;
  readonly ms: number;
}

/** As `killAgents`, on the installed command, which starts faster than the sources. Needs `npm run build`. */
export const agentKills: Torture = async (count, random, onProgress) => {
  // Not in the temp folder, which the sandbox hides.
  const install = mkdtempSync(join(import.meta.dirname, "../../node_modules/.octant-kills-"));
  try {
    return await killAgents(layOutInstall(install))(count, random, onProgress);
  } finally {
    rmSync(install, { recursive: true, force: true });
  }
};

/**
 * Kills the agent at random moments of a run, resumes it to the end, and checks that nothing was lost or repeated.
 */
export const killAgents =
  (launcher?: string, host: AgentHost = "local"): Torture =>
  async (count, random, onProgress) => {
    const violations: string[] = [];
    const facts = { killed: 0, inTool: 0, acknowledged: 0 };
    await using provider = await createScriptedProvider(COUNTING);
    for (let round = 0; round < count; round++) {
      using project = createFixtureProject();
      const moment = { events: Math.floor(random() * MAX_EVENTS), ms: random() * MAX_DELAY_MS };
      const found = await killOnce(project, provider, moment, { launcher, host });
      violations.push(
        ...found.violations.map(
          (what) => `kill ${round} after ${moment.events} events and ${moment.ms} ms: ${what}`,
        ),
      );
      facts.killed += found.wasKilled ? 1 : 0;
      facts.inTool += found.wasInTool ? 1 : 0;
      facts.acknowledged += found.acknowledged;
      onProgress(round + 1);
    }
    return {
      what: `${count} kill -9 of a run, each resumed to its end`,
      facts: `${facts.killed} hit a run, ${facts.inTool} of them a call; ${facts.acknowledged} acknowledged events, none lost`,
      violations,
    } satisfies Report;
  };

/** Performs one kill and returns the violations. */
async function killOnce(
  project: FixtureProject,
  provider: ScriptedProvider,
  moment: Moment,
  { launcher, host }: { readonly launcher: string | undefined; readonly host: AgentHost },
) {
  await using place = await placeSession(host, project);
  const env = { ...project.env, ...providerEnvironment(provider) };
  const options = { cwd: place.cwd, env, ...(launcher !== undefined && { launcher }) };
  const flags = ["--allow", "*", "--stream-json", "--provider", "anthropic", ...place.flags];
  rmSync(join(project.root, FILE), { force: true });
  const child = startOctant(["run", "write the lines", ...flags], options);
  child.stdin.end();
  const shown: AgentEvent[] = [];
  const reached = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    // The kill may have cut the last line.
    if (line.endsWith("}")) shown.push(JSON.parse(line));
    if (shown.length >= moment.events) reached.resolve();
  });
  const done = ended(child);
  if (moment.events > 0) await Promise.race([reached.promise, done]);
  await Promise.race([delay(moment.ms), done]);
  child.kill("SIGKILL");
  const { signal } = await done;

  const id = shown[0]?.session_id;
  const again = id === undefined ? ["write the lines"] : ["--resume", id];
  const resumed = await runOctant(["run", ...again, ...flags], options);
  const violations: string[] = [];
  const isOver = shown.some(({ type }) => type === "end");
  if (resumed.code !== 0) violations.push(`the resumed run ended with ${resumed.code}: ${resumed.stderr}`);
  const written = read(join(project.root, FILE));
  if (written !== EXPECTED) violations.push(`the file holds ${JSON.stringify(written)}`);
  if (id !== undefined && !isOver) {
    const exported = await runOctant(["sessions", "export", id, "--format", "json", ...place.flags], options);
    if (exported.code === 0) violations.push(...checkLog(shown, JSON.parse(exported.stdout)));
    else violations.push(`the session could not be exported: ${exported.stderr}`);
  }
  const open = new Set<string>();
  for (const event of shown) {
    if (event.type === "tool_began") open.add(event.call_id);
    if (event.type === "tool_ended") open.delete(event.call_id);
  }
  const acknowledged = shown.filter(isStored).length;
  return {
    violations,
    acknowledged,
    wasKilled: signal === "SIGKILL",
    wasInTool: open.size > 0,
  };
}

function checkLog(shown: readonly AgentEvent[], log: readonly StampedEvent[]): string[] {
  const wrong: string[] = [];
  for (const event of shown.filter(isStored))
    if (JSON.stringify(log[event.seq - 1]) !== JSON.stringify(event))
      wrong.push(`event ${event.seq} (${event.type}) was lost`);
  if (log.some(({ seq }, at) => seq !== at + 1)) wrong.push("the numbers of the events have gaps");
  const conversation = new Conversation();
  for (const event of log) conversation.apply(event);
  if (conversation.pendingCalls.length > 0) wrong.push("a call has no result");
  for (const type of ["tool_began", "tool_ended"] as const) {
    const ids = log.flatMap((event) => (event.type === type ? [event.call_id] : []));
    if (new Set(ids).size !== ids.length) wrong.push(`a call has more than one ${type}`);
  }
  return wrong;
}

const LIVE = /_delta$|^(tool_progress|retry|compaction_began|queued)$/;
const isStored = ({ type }: AgentEvent) => !LIVE.test(type);

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
