import { join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { createSource } from "../packages/hub/testing/open-hub.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { modelOf, startHost, startHub, stopAll } from "./start-hub.ts";

export interface HostedEvent {
  readonly seq: number;
  readonly type: string;
  readonly name?: string;
  readonly data?: { readonly message?: string };
  readonly is_error?: boolean;
}
export interface HostedSession {
  readonly session_id: string;
  readonly workspace_id: string;
  readonly state: string;
  readonly outcome?: string;
  readonly problem?: string;
  readonly waiting?: string;
}
export type HubProcess = Awaited<ReturnType<typeof startHub>>;
export type HostProcess = Awaited<ReturnType<typeof startHost>>;

/** Hubs of the command, a NATS server, and hosts that the test starts; each with an empty home. */
export async function openHostedHub(script: Script, more: { readonly database?: string } = {}) {
  const project = createFixtureProject();
  const nats = await startNatsServer();
  const provider = await createScriptedProvider(script);
  const base = join(project.root, "..");
  const source = createSource(base);
  const env = {
    ...project.env,
    ...modelOf(provider),
    OCTANT_NATS: nats.url,
    ...(more.database !== undefined && { OCTANT_HUB_DATABASE: more.database }),
  };
  const processes: Record<string, HubProcess | HostProcess> = {};
  const startAnotherHub = async (name: string, flags: readonly string[] = []): Promise<HubProcess> => {
    const started = await startHub(env, project.root, ["--folder", join(base, name), ...flags], []);
    processes[name] = started;
    return started;
  };
  const hub = await startAnotherHub("hub");
  const { project_id } = await hub.call<{ project_id: string }>("project.create", {
    name: "demo",
    folder: source,
    model: "some-model",
  });
  return {
    hub,
    base,
    source,
    project_id,
    provider,
    nats,
    env,
    /** What the hubs and the hosts printed on stderr. */
    said: (): string =>
      Object.entries(processes)
        .flatMap(([name, { said }]) => said.map((line) => `${name}: ${line}`))
        .join("\n"),
    startAnotherHub,
    async startHost(name: string, flags: readonly string[] = [], containers?: readonly string[]) {
      const started = await startHost(env, join(base, name), flags, containers);
      processes[name] = started;
      return started;
    },
    spawn: (message: string, given: object = {}) =>
      hub.call<HostedSession>("session.spawn", { project_id, message, ...given }),
    events: async (session_id: string, at = hub) =>
      (await at.call<{ events: HostedEvent[] }>("session.events", { session_id, max_events: 500 })).events,
    /** Waits until the session works no longer. */
    async settled(session_id: string, at = hub): Promise<HostedSession> {
      for (let since_index = 0; ; ) {
        const session = await at.call<HostedSession>("session.get", { session_id });
        if (session.state !== "working") return session;
        const page = await at.call<{ last_index: number }>("session.events", {
          ...{ session_id, since_index, wait: 2_000 },
        });
        since_index = page.last_index;
      }
    },
    async [Symbol.asyncDispose]() {
      await stopAll(Object.values(processes).map(({ child }) => child));
      await provider.close();
      await nats.stop();
      project[Symbol.dispose]();
    },
  };
}
