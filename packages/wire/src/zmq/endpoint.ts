import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname, isAbsolute } from "node:path";
import { ToolError } from "@octant/core";
import type { WireKeys } from "./keys.ts";

/** The limit for the path of a socket on Linux and macOS, with a margin. */
const MAX_SOCKET_PATH_BYTES = 96;
const MAX_PORT = 65_535;
const PRIVATE = 0o700;

export interface Endpoint {
  readonly address: string;
  /** The socket file; undefined for tcp. */
  readonly path: string | undefined;
}

const IPC = "ipc://";

/** `ipc://` with an absolute path, or `tcp://host:port`; anything else is INVALID_ARGUMENT. */
export function parseEndpoint(address: string): Endpoint {
  if (address.startsWith(IPC)) {
    const path = address.slice(IPC.length);
    if (!isAbsolute(path))
      throw invalid(address, "an ipc address has an absolute path: ipc:///run/user/1000/octant.sock");
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)
      throw invalid(
        address,
        `the path of a socket has at most ${MAX_SOCKET_PATH_BYTES} bytes; choose a shorter folder`,
      );
    return { address, path };
  }
  const [, port] = /^tcp:\/\/(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9.*-]+):(\d{1,5}|\*)$/.exec(address) ?? [];
  if (Number(port) > MAX_PORT) throw invalid(address, `a port is a number up to ${MAX_PORT}`);
  if (port !== undefined) return { address, path: undefined };
  throw invalid(address, "an address is ipc:///path/to/socket or tcp://host:port");
}

/** The preconditions for listening: only the owner can reach an ipc socket, and tcp requires keys. */
export function secureEndpoint({ address, path }: Endpoint, keys: WireKeys | undefined) {
  if (path !== undefined) return makePrivateFolder(dirname(path));
  if (keys?.kind === "curve" && keys.server.secretKey === "")
    throw invalid(address, "the key file is a copy for clients: it has no server-secret");
  if (keys) return;
  throw new ToolError(
    "PERMISSION_DENIED",
    `${address} needs keys: anybody can reach a TCP port; --zmq-keys FILE makes them; or use ipc://`,
    { by: "wire", rule: "tcp needs keys" },
  );
}

/**
 * Creates the folder with mode 0700 when it is missing; refuses one that others can enter, because the socket itself
 * is open to all.
 */
function makePrivateFolder(folder: string) {
  mkdirSync(folder, { recursive: true, mode: PRIVATE });
  const stat = lstatSync(folder);
  const mine = process.getuid === undefined || stat.uid === process.getuid();
  if (stat.isDirectory() && mine && (stat.mode & 0o077) === 0) return;
  throw new ToolError(
    "ACCESS_DENIED",
    `other users can enter ${folder}; choose a folder of yours with mode 0700, or one that does not exist yet`,
    {},
  );
}

/**
 * Binding to a socket file takes it over, which would cut off a server listening there. The file of a killed server
 * is replaced.
 */
export async function checkUnused({ address, path }: Endpoint): Promise<void> {
  if (path === undefined) return;
  const socket = connect(path);
  const isUsed = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  });
  socket.destroy();
  if (isUsed) throw inUse(address);
}

const inUse = (address: string) =>
  new ToolError(
    "ALREADY_EXISTS",
    `another server listens at ${address}; choose another address, or stop it first`,
    { uri: address },
  );

/** The default address for broadcasts: next to the socket, or a free port for tcp. */
export const broadcastAddress = ({ address, path }: Endpoint): string =>
  path === undefined ? address.replace(/:(\d+|\*)$/, ":*") : `${address}.pub`;

/**
 * Binds a socket and returns its address. A socket file is bound under a temporary name and then renamed: libzmq
 * removes the bound name some time after the socket was closed, which could be the next server's.
 */
export async function bindSocket(
  socket: { bind(address: string): Promise<void>; readonly lastEndpoint: string | null },
  address: string,
): Promise<string> {
  if (!address.startsWith(IPC)) {
    await socket.bind(address).catch((cause) => {
      throw cause.code === "EADDRINUSE"
        ? inUse(address)
        : invalid(address, `cannot listen: ${cause.message}`);
    });
    return socket.lastEndpoint ?? address;
  }
  const path = address.slice(IPC.length);
  const own = `${path}.${randomBytes(3).toString("hex")}`;
  await socket.bind(`${IPC}${own}`);
  chmodSync(own, 0o600);
  renameSync(own, path);
  return address;
}

const WILDCARDS: Readonly<Record<string, "IPv4" | "IPv6">> = {
  "0.0.0.0": "IPv4",
  "*": "IPv4",
  "[::]": "IPv6",
};

/** An address that others can connect to: a socket bound to all interfaces is reached at one of them. */
export function toReachable(address: string): string {
  const [, host = "", port = ""] = /^tcp:\/\/(.*):(\d+)$/.exec(address) ?? [];
  const family = WILDCARDS[host];
  if (!family) return address;
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const own = all.filter((one) => one.family === family && !one.address.startsWith("fe80:"));
  const chosen = (own.find(({ internal }) => !internal) ?? own[0])?.address ?? "127.0.0.1";
  return `tcp://${family === "IPv6" && chosen.includes(":") ? `[${chosen}]` : chosen}:${port}`;
}

const invalid = (address: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", `invalid address '${address}': ${message}`, {
    issues: [{ path: "address", message }],
  });
