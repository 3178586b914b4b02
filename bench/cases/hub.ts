import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseEngine, createHub, type Hub, toInstall } from "@octant/hub";
import { createScriptedProvider } from "@octant/scripted-provider";
import type { Project } from "../../packages/hub/src/projects/project.ts";
import type { Bench, Case } from "../case.ts";
import { layOutInstall } from "../install.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const NAME = "spawn a session in a warm container";
const MODULES = join(import.meta.dirname, "../../node_modules");
const MAX_BEYOND_MS = 300;
const WAIT_MS = 60_000;

export const hubs: readonly Case[] = [{ name: NAME, run: spawnWarm }];

/** From session.spawn to the first event, which needs the tools in the container, against a command that does nothing. */
async function spawnWarm({ effort, random }: Bench): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-hub-"));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Done." }] }));
  const env = {
    ...{ PATH: process.env["PATH"], HOME: folder, XDG_STATE_HOME: join(folder, "state") },
    ...{ ANTHROPIC_API_KEY: "sk-bench", ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") },
  };
  mkdirSync(join(folder, "hub"));
  const log = () => {};
  const engine = await chooseEngine({ engine: "local", env, folder: join(folder, "hub"), log });
  const installed = toInstall(layOutInstall(join(folder, "install")));
  // The laid out install links to these.
  const modules = { source: MODULES, target: MODULES, readOnly: true };
  const install = { ...installed, mounts: [...installed.mounts, modules] };
  await using hub = await createHub({ folder: join(folder, "hub"), env, engine, install, log });
  const { project_id } = await call<{ project_id: string }>(hub, "project.create", {
    ...{ name: "bench", model: "some-model" },
  });
  const { workspace_id } = await call<{ workspace_id: string }>(hub, "workspace.create", { project_id });
  const project = await hub.store.records<Project>("project").get(project_id);
  if (!project) throw new Error("the project is gone");
  const spawn = async () => {
    const { session_id } = await call<{ session_id: string }>(hub, "session.spawn", {
      ...{ project_id, workspace_id, message: "Go." },
    });
    const { events } = await call<{ events: readonly object[] }>(hub, "session.events", {
      ...{ session_id, wait: WAIT_MS },
    });
    if (events.length === 0) throw new Error("the session has not begun");
    return session_id;
  };
  const { octant, direct } = await interleave(
    {
      async octant() {
        let session_id = "";
        const ms = await timed(async () => {
          session_id = await spawn();
        });
        await call(hub, "session.events", { session_id, wait: WAIT_MS, until: "idle" });
        return ms;
      },
      direct: () => timed(() => hub.containers.run(project, { argv: ["true"], cwd: "/", workspace_id })),
    },
    effort,
    random,
  );
  const note = "to its first event, beyond a command that does nothing in the same container; engine local";
  const bar = atMost(MAX_BEYOND_MS);
  return { name: NAME, unit: "ms", octant, direct, figure: octant.p50 - direct.p50, bar, note };
}

async function call<T>(hub: Hub, name: string, input: object): Promise<T> {
  const [tool = "", action = ""] = name.split(".");
  const caller = { id: "bench", access: "admin" } as const;
  const { envelope } = await hub.octant.dispatch({ tool, action, input }, { caller });
  if (!envelope.ok) throw new Error(`${name}: ${envelope.error.message}`);
  // The action answers so.
  return envelope.data as T;
}
