import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { git } from "../packages/hub/testing/open-hub.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { LAUNCHER, startHub } from "../scripts/torture/hub-kills.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

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
}

/** A hub of the command, a NATS server, and hosts that the test starts; each with an empty home. */
export async function openHostedHub(script: Script) {
  const project = createFixtureProject();
  const nats = await startNatsServer();
  const provider = await createScriptedProvider(script);
  const base = join(project.root, "..");
  const source = join(base, "source");
  mkdirSync(source);
  git(source, "init", "-q", "-b", "main");
  writeFileSync(join(source, "a.txt"), "one\n");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "First");
  const env = {
    ...project.env,
    ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
    ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    OCTANT_NATS: nats.url,
  };
  const hub = await startHub(env, project.root, [], []);
  const said: string[] = [];
  createInterface({ input: hub.child.stderr }).on("line", (line) => said.push(line));
  const hosts: ChildProcessWithoutNullStreams[] = [];
  const startHost = async (name: string, flags: readonly string[] = []) => {
    const { ANTHROPIC_API_KEY: _key, ...own } = env;
    const folder = join(base, name);
    const child = startOctant(["host", "--engine", "local", "--folder", folder, "--json", ...flags], {
      cwd: base,
      env: own,
      // As the hub: containers see this install with its packages.
      launcher: LAUNCHER,
    });
    hosts.push(child);
    createInterface({ input: child.stderr }).on("line", (line) => said.push(`${name}: ${line}`));
    await once(createInterface({ input: child.stdout }), "line");
    return { child, folder };
  };
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
    /** What the hub and the hosts printed on stderr. */
    said,
    startHost,
    spawn: (message: string, more: object = {}) =>
      hub.call<HostedSession>("session.spawn", { project_id, message, ...more }),
    events: async (session_id: string) =>
      (await hub.call<{ events: HostedEvent[] }>("session.events", { session_id, max_events: 500 })).events,
    /** Waits until the session works no longer. */
    async settled(session_id: string): Promise<HostedSession> {
      for (let since_index = 0; ; ) {
        const session = await hub.call<HostedSession>("session.get", { session_id });
        if (session.state !== "working") return session;
        const page = await hub.call<{ last_index: number }>("session.events", {
          ...{ session_id, since_index, wait: 2_000 },
        });
        since_index = page.last_index;
      }
    },
    async [Symbol.asyncDispose]() {
      for (const child of [hub.child, ...hosts]) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const closed = once(child, "close");
        child.kill("SIGTERM");
        await closed;
      }
      await provider.close();
      await nats.stop();
      project[Symbol.dispose]();
    },
  };
}
