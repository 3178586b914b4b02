import { closeSync, openSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { findTrusted, startTrusted } from "@octant/host";

/** Where an engine listens. */
export type EngineAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** The service ends by itself when nobody has used it for this long, also when the hub was killed. */
const IDLE_SECONDS = 30;
const START_MS = 15_000;
const PAUSE_MS = 25;
const MAX_REASON_CHARS = 400;
/** The longest path of a socket. */
const MAX_SOCKET_BYTES = 107;

/** A connection to an engine; rejects with the system's error. */
export function connectTo(address: EngineAddress): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(address);
  socket.once("error", reject);
  socket.once("connect", () => {
    socket.off("error", reject);
    resolve(socket);
  });
  return promise;
}

/** Podman's own service on a socket of the hub, started when it is needed. */
export function createPodmanService({
  socket,
  env,
}: {
  readonly socket: string;
  readonly env: NodeJS.ProcessEnv;
}) {
  const program = findTrusted("podman");
  let starting: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    if (!program)
      throw new ToolError("UNSUPPORTED", "Podman is not installed", {
        what: "the engine podman",
        how: "install it, such as with apt-get install podman, or use octant hub --engine local",
      });
    if (Buffer.byteLength(socket) > MAX_SOCKET_BYTES)
      throw new ToolError("UNSUPPORTED", `the path of the socket is too long: ${socket}`, {
        what: "a socket in this folder",
        how: "use a folder with a shorter path: octant hub --folder DIR",
      });
    // A pipe would break with the hub, and the service with it, in the middle of the work of the next hub.
    const log = openSync(`${socket}.log`, "w", 0o600);
    const args = ["system", "service", "--time", String(IDLE_SECONDS), `unix://${socket}`];
    const child = startTrusted(program, args, {
      env: environmentOf(env),
      stdio: ["ignore", log, log],
      // Podman's monitors write to it.
      cwd: dirname(socket),
      // Ctrl-C at the hub's terminal ends the hub, which still needs the service to stop containers.
      detached: true,
    });
    closeSync(log);
    let ended = false;
    for (const event of ["exit", "error"])
      child.on(event, () => {
        ended = true;
      });
    child.unref();
    const reason = () => readFileSync(`${socket}.log`, "utf8").trim().slice(-MAX_REASON_CHARS);
    const deadline = performance.now() + START_MS;
    for (;;) {
      const connected = await connectTo({ path: socket }).catch(() => undefined);
      if (connected) return void connected.destroy();
      if (ended || performance.now() > deadline)
        throw new ToolError("UPSTREAM_ERROR", `podman system service does not start: ${reason()}`, {});
      await delay(PAUSE_MS);
    }
  };
  return {
    isInstalled: program !== undefined,
    async connect(): Promise<Socket> {
      const open = await connectTo({ path: socket }).catch(() => undefined);
      if (open) return open;
      starting ??= start().finally(() => {
        starting = undefined;
      });
      await starting;
      return connectTo({ path: socket });
    },
  };
}

/** The variables of the person's environment that Podman needs; API keys are not among them. */
const environmentOf = ({
  HOME,
  PATH,
  XDG_RUNTIME_DIR,
  XDG_CONFIG_HOME,
  XDG_DATA_HOME,
  CONTAINERS_CONF,
  TMPDIR,
}: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    Object.entries({
      HOME,
      PATH,
      XDG_RUNTIME_DIR,
      XDG_CONFIG_HOME,
      XDG_DATA_HOME,
      CONTAINERS_CONF,
      TMPDIR,
    }).filter(([, value]) => value !== undefined),
  );
