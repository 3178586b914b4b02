import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { ToolError } from "@octant/core";
import { curveKeyPair } from "zeromq";

/**
 * The shared keys of a connection. CURVE encrypts and authenticates; HMAC only authenticates, for peers without
 * CURVE.
 */
export type WireKeys =
  | { readonly kind: "curve"; readonly server: KeyPair; readonly client: KeyPair }
  | { readonly kind: "hmac"; readonly key: Uint8Array };

/** In Z85, ZeroMQ's key format. The server's secret is empty in a copy for clients. */
interface KeyPair {
  readonly publicKey: string;
  readonly secretKey: string;
}

const HMAC_KEY_BYTES = 32;
const MAX_FILE_BYTES = 4_096;

/** Reads a key file: lines of a name and a value. Refuses one that others can read. */
export function loadKeys(path: string): WireKeys {
  return parseKeys(readPrivate(path), path);
}

/** Writes a new key file with mode 0600; throws EEXIST when there is one. */
export function createKeys(path: string, kind: WireKeys["kind"]): WireKeys {
  const keys: WireKeys =
    kind === "hmac"
      ? { kind, key: randomBytes(HMAC_KEY_BYTES) }
      : { kind, server: curveKeyPair(), client: curveKeyPair() };
  const fd = open(path, "wx");
  try {
    writeSync(fd, encodeKeys(keys));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return keys;
}

function encodeKeys(keys: WireKeys): string {
  if (keys.kind === "hmac") return `hmac ${Buffer.from(keys.key).toString("hex")}\n`;
  const { server, client } = keys;
  return [
    `server-public ${server.publicKey}`,
    `server-secret ${server.secretKey}`,
    `client-public ${client.publicKey}`,
    `client-secret ${client.secretKey}`,
    "",
  ].join("\n");
}

function parseKeys(text: string, path: string): WireKeys {
  const values = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("# "))
      .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1).trim()]),
  );
  const hmac = values.get("hmac");
  if (hmac !== undefined && /^[0-9a-f]{64}$/.test(hmac))
    return { kind: "hmac", key: Buffer.from(hmac, "hex") };
  const curve = (name: string) => (Z85_KEY.test(values.get(name) ?? "") ? (values.get(name) ?? "") : "");
  const server = { publicKey: curve("server-public"), secretKey: curve("server-secret") };
  const client = { publicKey: curve("client-public"), secretKey: curve("client-secret") };
  if (server.publicKey && client.publicKey) return { kind: "curve", server, client };
  throw new ToolError(
    "INVALID_ARGUMENT",
    `${path} is not a key file; octant serve --zmq tcp://… --zmq-keys FILE makes one when FILE does not exist`,
    {
      issues: [
        { path, message: "lines: server-public, server-secret, client-public, client-secret; or: hmac" },
      ],
    },
  );
}

const Z85_KEY = /^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/;

function readPrivate(path: string): string {
  const fd = open(path, "r");
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) throw denied(`${path} is not a key file`);
    if (stat.mode & 0o077)
      throw denied(`${path} can be read by others; chmod 600 it, and make new keys if others had access`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

function open(path: string, flags: "r" | "wx"): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    const next = flags === "r" ? "copy the key file of the server" : "choose a file in a folder that exists";
    throw new ToolError(
      "ACCESS_DENIED",
      `cannot open the key file ${path} (${reason}); ${next}`,
      {},
      { cause },
    );
  }
}

const denied = (message: string) => new ToolError("ACCESS_DENIED", message, {});
