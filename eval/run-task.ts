import { type ApiName, createScriptedProvider } from "@octant/scripted-provider";
import { type AgentHost, placeSession } from "../test/agent-hosts.ts";
import { callOctant } from "../test/octant-in-process.ts";
import { providerEnvironment } from "./agent-environment.ts";
import { type AgentTask, createTaskProject, DONE, playTask } from "./agent-tasks.ts";

/** Lets the scripted model solve a task through the real command; returns the violations. */
export async function solveTask(
  task: AgentTask,
  api: ApiName,
  host: AgentHost = "local",
): Promise<readonly string[]> {
  using project = createTaskProject(task);
  await using place = await placeSession(host, project);
  await using provider = await createScriptedProvider((request) => playTask(task, request));
  const options = { cwd: project.root, env: { ...project.env, ...providerEnvironment(provider) } };
  const wrong: string[] = [];
  if (project.verify()) wrong.push("its tests pass before anything was done");
  const args = [
    task.instruction,
    "--provider",
    api,
    "--model",
    "scripted",
    "--allow",
    "*",
    "--json",
    ...place.flags,
  ];
  const ran = await callOctant(["run", ...args], { ...options, cwd: place.cwd });
  if (ran.code !== 0) wrong.push(`octant run ended with ${ran.code}: ${ran.stderr}`);
  else {
    const { text, session_id } = JSON.parse(ran.stdout);
    if (text !== DONE) wrong.push(`the last answer is ${JSON.stringify(text)}`);
    const audit = await callOctant(["audit", "--json"], options);
    const calls = audit.stdout.split(session_id).length - 1;
    const made = task.turns.flat().length;
    if (calls < made) wrong.push(`the audit has ${calls} records of ${made} calls`);
  }
  const results = provider.requests.at(-1)?.all_results.map(({ text }) => text) ?? [];
  for (const text of results.filter((each) => each.includes("INVALID_ARGUMENT")))
    wrong.push(`a call is malformed: ${text}`);
  if (!project.verify()) wrong.push(`its tests fail after the run: ${results.join("\n")}`);
  return wrong.map((what) => `${task.name} over ${api} with a ${host} host: ${what}`);
}
