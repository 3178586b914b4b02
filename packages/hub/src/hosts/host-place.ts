import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ToolError } from "@octant/core";
import type { TakenPlace } from "@octant/wire";
import type { z } from "zod";
import { type ContainerEvent, type Containers, createContainers } from "../containers/containers.ts";
import { createProjectContainer } from "../containers/project-container.ts";
import { createProxies } from "../containers/proxies.ts";
import { checkLimits } from "../engines/check-limits.ts";
import type { ContainerEngine, ExecProcess } from "../engines/engine.ts";
import { type InstallInContainer, writeContainerSettings } from "../install.ts";
import type { Project } from "../projects/project.ts";
import { type Hello, OPERATIONS, type OperationName } from "./operations.ts";

export interface HostPlaceOptions {
  readonly engine: ContainerEngine;
  readonly install: InstallInContainer;
  /** Of this place alone. */
  readonly folder: string;
  /** Of a project, for all of its places on this host. */
  cacheOf(project_id: string): string;
  /** Whether the disk has no room for another workspace. */
  isFull(): Promise<boolean>;
  /** The streams of commands. */
  streams(): Pick<TakenPlace, "reader" | "writer">;
  /** The hub no longer needs the place. */
  onClose(): void;
  log(line: string): void;
}

interface Configured {
  readonly project: Project;
  readonly containers: Containers;
  readonly newHits: ReturnType<Containers["watchLimits"]>;
}

type Inputs = { readonly [N in OperationName]: z.output<(typeof OPERATIONS)[N]> };
/** How long streams of an ended command answer a side that missed its last acknowledgement. */
const LINGER_MS = 10_000;

export type HostPlace = ReturnType<typeof createHostPlace>;

/** A place on this host: one container with its folders, for the hub that asked for it. */
export function createHostPlace(options: HostPlaceOptions) {
  const { engine, install, folder, cacheOf, streams, onClose, log } = options;
  const processes = new Map<string, ExecProcess>();
  /** The streams of commands; those to a hub that is gone would send for ever. */
  const channels = new Set<{ close(): void }>();
  const folders = { workspaces: join(folder, "w"), settings: join(folder, "s"), prepared: join(folder, "r") };
  const image: { name?: string | undefined; env: Readonly<Record<string, string>> } = { env: {} };
  let owner: string | undefined;
  let heardAt = performance.now();
  let isSeeded = false;
  let isPrepared = false;
  let configured: Configured | undefined;
  /** Those that the hub has not read. */
  const events: ContainerEvent[] = [];
  const ending = new AbortController();

  const configure = (project: Project): Configured => {
    const foldersOf = () => ({ ...folders, cache: cacheOf(project.id) });
    const proxies = createProxies({ folder: join(folder, "p"), install });
    const { specOf } = createProjectContainer({
      // The hub has decided on the image, and runs the post-create commands itself.
      images: {
        resolve: async () => ({ image: image.name, env: image.env, postCreate: [] }),
        planOf: async () => ({ env: {}, postCreate: [], features: [], notes: [], from: "the hub" }),
      },
      install,
      proxies,
      foldersOf,
    });
    const containers = createContainers({
      ...{
        engine,
        proxies,
        specOf,
        log,
        hub_id: folder,
        toolsOf: install.toolsOf,
        install_id: install.id,
      },
      folderOf: () => folder,
      writableOf: () => [folders.workspaces, cacheOf(project.id)],
      onUse: () => () => {},
      report: (type) => void events.push(type),
    });
    return { project, containers, newHits: containers.watchLimits(project) };
  };
  const found = (): Configured => {
    if (configured) return configured;
    throw new ToolError("CONFLICT", "the place has no project yet", {
      expected: "configure",
      actual: "none",
    });
  };
  const stateOf = async () => {
    const state = configured && (await configured.containers.find(configured.project.id));
    return (state && (await engine.inspect(state.id))) ?? null;
  };
  const endProcesses = async () => {
    await Promise.all([...processes.values()].map((one) => one.kill().catch(() => {})));
    for (const one of channels) one.close();
    channels.clear();
    if (configured) await configured.containers.stop(configured.project.id);
  };

  const operations: { readonly [N in OperationName]: (input: Inputs[N]) => Promise<unknown> } = {
    async hello(): Promise<Hello> {
      const { name, detail, images, enforces, available } = await engine.status();
      return {
        engine: { name, detail, images, enforces, available },
        node: install.node,
        is_seeded: isSeeded,
        is_full: await options.isFull(),
        is_prepared: isPrepared,
      };
    },
    async configure({ project: rest, image: name, env }) {
      checkLimits(await engine.status(), rest.limits);
      Object.assign(image, { name, env });
      for (const one of [...Object.values(folders), cacheOf(rest.id)]) mkdirSync(one, { recursive: true });
      // The host sees nothing else of a project.
      const project: Project = { ...rest, source: { empty: true }, created_at: "", updated_at: "" };
      writeContainerSettings(folders.settings, project);
      configured = configured ? { ...configured, project } : configure(project);
    },
    async seeded() {
      isSeeded = true;
    },
    async prepared() {
      isPrepared = true;
    },
    async exec({ id, tools, argv, cwd, env }) {
      const { containers, project } = found();
      const spec = { argv, ...(cwd !== undefined && { cwd }), ...(env && { env }) };
      const start = () =>
        tools
          ? containers.execTools(project, {
              ...{ cwd: cwd ?? "", workspace_id: "", env },
              ...(argv.length > 0 && { argv }),
            })
          : containers.exec(project, spec);
      const input = streams().reader(id, "in");
      const process = await start();
      processes.set(id, process);
      const [out, err, exit] = ["out", "err", "exit"].map((name) => streams().writer(id, name));
      if (!out || !err || !exit) return;
      const all = [input, out, err, exit];
      for (const one of all) channels.add(one);
      const passed = [
        pipeline(process.stdout, out),
        pipeline(process.stderr, err),
        // A command may end before it has read its input.
        pipeline(input, process.stdin).catch(() => {}),
      ];
      const code = process.exited.catch((cause: unknown) => {
        log(`host: a command failed: ${cause}`);
        return null;
      });
      void code.then((value) => {
        processes.delete(id);
        exit.end(value === null ? "" : String(value));
        input.destroy();
      });
      exit.on("error", () => {});
      void Promise.allSettled([...passed, code]).then(() =>
        setTimeout(() => {
          for (const one of all) {
            one.close();
            channels.delete(one);
          }
        }, LINGER_MS).unref(),
      );
    },
    kill: async ({ id }) => processes.get(id)?.kill(),
    async start() {
      await found().containers.start(found().project);
    },
    async stop() {
      if (configured) await configured.containers.stop(configured.project.id);
    },
    async refresh() {
      await found().containers.refresh(found().project);
    },
    state: stateOf,
    explain: async () => (await configured?.containers.explain(configured.project)) ?? null,
    new_hits: async () => (await configured?.newHits()) ?? [],
    events: async () => events.splice(0),
    async stats() {
      const state = await stateOf();
      return state?.state === "running" ? engine.stats(state.id) : {};
    },
    async logs(wanted) {
      const state = await stateOf();
      const printed = state ? await engine.logs(state.id, wanted) : "";
      const own = configured?.containers.logOf(configured.project.id).lines() ?? [];
      return [...own, ...printed.split("\n")].filter(Boolean).slice(-wanted.tail).join("\n");
    },
    disk: async () => (await configured?.containers.usedBy(configured.project.id)) ?? 0,
    has_image: ({ image: name }) => engine.hasImage(name),
    pull: ({ id, image: name }) => withLines(id, (onLine) => engine.pull(name, onLine, ending.signal)),
    build: ({ id, ...spec }) =>
      withLines(id, async (onLine) => {
        const context = streams().reader(id, "in");
        try {
          await engine.build({ ...spec, context }, onLine, ending.signal);
        } finally {
          context.close();
        }
      }),
    async close() {
      onClose();
    },
  };
  const withLines = async (id: string, work: (onLine: (line: string) => void) => Promise<void>) => {
    const lines = streams().writer(id, "out");
    lines.on("error", () => {});
    try {
      await work((line) => void lines.write(`${line}\n`));
    } finally {
      lines.end();
    }
  };
  const run = <N extends OperationName>(name: N, input: unknown): Promise<unknown> =>
    // The schema of an operation gives what it takes.
    operations[name](OPERATIONS[name].parse(input) as Inputs[N]);

  return {
    async answer(operation: string, input: unknown, from: string): Promise<unknown> {
      heardAt = performance.now();
      if (operation === "hello" && owner !== from) {
        // Another hub, or the same one after a restart: nobody waits for the commands that run.
        if (owner !== undefined) await endProcesses();
        owner = from;
      }
      if (owner !== from) throw new ToolError("LOCKED", "another hub has taken over this place", {});
      if (Object.hasOwn(OPERATIONS, operation)) return run(operation as OperationName, input);
      throw new ToolError("UNSUPPORTED", `this host does not know '${operation}'`, {
        what: operation,
        how: "use the same version of Octant for the hub and its hosts",
      });
    },
    silentMs: () => performance.now() - heardAt,
    memory: () => configured?.project.limits.memory_mb ?? 0,
    /** Ends everything and removes its files. */
    async remove(): Promise<void> {
      ending.abort();
      await endProcesses();
      if (configured) {
        await configured.containers.remove(configured.project.id);
        await configured.containers.close(() => true);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
