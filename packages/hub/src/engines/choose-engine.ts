import { existsSync } from "node:fs";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { createDockerEngine } from "./docker-engine.ts";
import type { ContainerEngine } from "./engine.ts";
import { createLocalEngine } from "./local-engine.ts";
import { connectTo, createPodmanService, type EngineAddress } from "./podman-service.ts";

export interface EngineOptions {
  /** `auto`, `local`, `podman`, `docker`, or the URL of a socket. */
  readonly engine: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where engines of the hub itself keep their files. */
  readonly folder: string;
  /** Says why an engine that was found is not used. */
  readonly log: (line: string) => void;
}

/** A way to get an engine. */
interface Candidate {
  /** For people. */
  readonly name: string;
  open(): ContainerEngine;
}

const DOCKER_SOCKET = "/var/run/docker.sock";
const ROOT_PODMAN_SOCKET = "/run/podman/podman.sock";

/** The engine that the person chose. With `auto` it is the first one that really runs a container. */
export async function chooseEngine(options: EngineOptions): Promise<ContainerEngine> {
  const { engine, env, folder, log } = options;
  const local = () => createLocalEngine({ folder: join(folder, "containers") });
  const given = env["DOCKER_HOST"] ? [() => atUrl(env["DOCKER_HOST"] ?? "")] : [];
  const find = async (name: string, candidates: readonly (() => Candidate)[], how: string) => {
    const found = await firstUsable(candidates, log);
    if (found) return found;
    const message = `no container can be started with ${name}`;
    throw new ToolError("UNSUPPORTED", message, { what: `the engine ${name}`, how });
  };
  const podman = [...podmanSockets(env), ...podmanOfTheHub(options)];
  const docker = [...given, ...atSockets([DOCKER_SOCKET])];
  if (engine === "local") return local();
  if (engine === "podman")
    return find("Podman", podman, "install Podman (apt-get install podman), or use --engine local");
  if (engine === "docker")
    return find("Docker", docker, "start Docker, set DOCKER_HOST, or use --engine local");
  if (engine !== "auto") return atUrl(engine).open();
  const all = [...given, ...podmanSockets(env), ...atSockets([DOCKER_SOCKET]), ...podmanOfTheHub(options)];
  return (await firstUsable(all, log)) ?? local();
}

const podmanSockets = ({ XDG_RUNTIME_DIR }: NodeJS.ProcessEnv) =>
  atSockets([
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, "podman", "podman.sock")] : []),
    ROOT_PODMAN_SOCKET,
  ]);

function podmanOfTheHub({ env, folder }: EngineOptions): (() => Candidate)[] {
  const service = createPodmanService({ socket: join(folder, "podman.sock"), env });
  if (!service.isInstalled) return [];
  const address = "started by the hub when it is needed";
  return [
    () => ({
      name: "Podman, started by the hub,",
      open: () => createDockerEngine({ connect: service.connect, address }),
    }),
  ];
}

const atSockets = (paths: readonly string[]): (() => Candidate)[] =>
  paths.filter((path) => existsSync(path)).map((path) => () => at({ path }, path));

function at(address: EngineAddress, where: string): Candidate {
  const open = () => createDockerEngine({ connect: () => connectTo(address), address: where });
  return { name: `the container engine at ${where}`, open };
}

/** Folders of the hub are mounted into containers, so the engine has to be on this machine. */
function atUrl(text: string): Candidate {
  const url = URL.parse(text);
  if (url?.protocol === "unix:") return at({ path: decodeURIComponent(url.pathname) }, text);
  const port = Number(url?.port);
  const isHere = url !== null && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url?.protocol === "tcp:" && isHere && port > 0)
    return at({ host: url.hostname.replaceAll(/[[\]]/g, ""), port }, text);
  throw new ToolError("UNSUPPORTED", `'${text}' is not the address of a container engine on this machine`, {
    what: `the engine ${text}`,
    how: "use auto, local, podman, docker, unix:///path/of/the/socket or tcp://127.0.0.1:PORT",
  });
}

async function firstUsable(
  candidates: readonly (() => Candidate)[],
  log: EngineOptions["log"],
): Promise<ContainerEngine | undefined> {
  for (const candidate of candidates) {
    const { name, open } = candidate();
    const engine = open();
    const problem = await tryOut(engine);
    if (problem === undefined) return engine;
    log(`hub: ${name} is not used: ${problem}`);
    await engine.close();
  }
  return undefined;
}

/** Runs a container to its end; the reason when that fails. */
async function tryOut(engine: ContainerEngine): Promise<string | undefined> {
  let id: string | undefined;
  try {
    const { available, detail } = await engine.status();
    if (!available) return detail;
    const name = newHandle("octant-probe", Date.now());
    id = await engine.create({
      name,
      mounts: [],
      env: {},
      cwd: "/",
      network: "none",
      limits: {},
      labels: {},
    });
    await engine.start(id);
    const { stdin, stdout, stderr, exited } = await engine.exec(id, { argv: ["true"] });
    stdin.end();
    stdout.resume();
    stderr.resume();
    const code = await exited;
    return code === 0 ? undefined : `a command in a container ended with ${code}`;
  } catch (cause) {
    if (cause instanceof ToolError) return cause.message;
    throw cause;
  } finally {
    if (id !== undefined) await engine.remove(id);
  }
}
