import { once } from "node:events";
import { createInterface } from "node:readline";
import { createScriptedProvider } from "@octant/scripted-provider";
import { type ConsolePage, openPage } from "../console-client.ts";
import { startOctant } from "../octant-process.ts";
import { accountAt } from "../scripted-account.ts";
import { createCalculatorProject } from "./project.ts";

export interface HubScene extends AsyncDisposable {
  /** The API of the hub's console. */
  readonly api: ConsolePage;
  readonly project_id: string;
  readonly session_id: string;
  log(): string;
}

export interface HubSceneOptions {
  readonly launcher?: string;
  readonly model?: string;
}

const NIGHTLY = "Update the dependencies and make the tests pass.";

/**
 * A hub with two projects, a container at work, a session, schedules and tokens. The command that the tests build links
 * to packages which its containers do not see, so its session fails; one of the sources' launcher succeeds.
 */
export async function openHubScene({
  launcher,
  model = "some-model",
}: HubSceneOptions = {}): Promise<HubScene> {
  await using parts = new AsyncDisposableStack();
  const provider = parts.use(
    await createScriptedProvider(() => ({
      usage: { input: 9_900, cached: 9_000, output: 350 },
      parts: [{ text: "The tests pass." }],
    })),
  );
  const project = parts.use(createCalculatorProject());
  const env = { ...project.env, ...accountAt(provider) };
  const hub = startOctant(["hub", "--engine", "local", "--port", "0", "--json"], {
    ...{ cwd: project.root, env },
    ...(launcher !== undefined && { launcher }),
  });
  parts.defer(async () => {
    hub.kill("SIGTERM");
    if (hub.exitCode === null && hub.signalCode === null) await once(hub, "exit");
  });
  let log = "";
  hub.stderr.on("data", (text: Buffer) => {
    log += text;
  });
  const [line] = await Promise.race([
    once(createInterface({ input: hub.stdout }), "line"),
    once(hub, "exit").then(() => Promise.reject(new Error(`the hub has ended: ${log}`))),
  ]);
  const api = await openPage(JSON.parse(String(line)).console);
  const call = createCalls(api);
  const limits = { memory_mb: 512, pids: 200, disk_mb: 2_000 };
  const { project_id } = await call("project.create", {
    ...{ name: "calculator", folder: project.root, description: "Parses and evaluates arithmetic" },
    model,
    limits,
  });
  await call("project.create", { name: "website" });
  await call("container.start", { project_id });
  await call("workspace.create", { project_id, name: "login" });
  const { session_id } = await call("session.spawn", { project_id, message: "Make npm test pass." });
  await call("session.events", { session_id, until: "idle", wait: 50_000, since_index: 9_999 });
  const schedule = { project_id, time_zone: "Europe/Berlin" };
  await call("schedule.create", { ...schedule, name: "nightly", cron: "30 2 * * *", message: NIGHTLY });
  await call("schedule.create", {
    ...{ ...schedule, name: "audit", cron: "0 9 * * *", message: "Look for known vulnerabilities." },
    enabled: false,
  });
  await call("token.create", { name: "bob", scope: `project:${project_id}` });
  await call("token.create", { name: "dashboard", scope: "admin:ro" });
  const owned = parts.move();
  return {
    ...{ api, project_id: String(project_id), session_id: String(session_id) },
    log: () => log,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Calls of the hub's tools; each has to succeed. */
const createCalls =
  (api: ConsolePage) =>
  async (name: string, input: object): Promise<Record<string, string>> => {
    const [tool = "", action = ""] = name.split(".");
    const { data, error } = await api.call("hub", tool, action, input);
    if (error) throw new Error(`${name}: ${error.message}`);
    return Object(data);
  };
