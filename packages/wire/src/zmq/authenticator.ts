import { timingSafeEqual } from "node:crypto";
import { type Context, Router } from "zeromq";

/** The address at which ZeroMQ asks about each connection, in the context of its sockets (RFC 27, ZAP). */
const ADDRESS = "inproc://zeromq.zap.01";
const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/** Whether a connection with these credentials is admitted. */
export type Admits = (mechanism: string, credentials: readonly Buffer[]) => boolean;

/** CURVE alone admits every client that knows the server's public key; this admits only one client key. */
export function admitKey(publicKey: string): Admits {
  const admitted = parseZ85(publicKey);
  return (mechanism, [key]) => mechanism === "CURVE" && key?.equals(admitted) === true;
}

export function admitPassword(password: string): Admits {
  const expected = Buffer.from(password);
  return (mechanism, [, given = Buffer.alloc(0)]) =>
    mechanism === "PLAIN" && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Answers the questions of the context's sockets about their connections. */
export async function authenticate(context: Context, admits: Admits): Promise<() => void> {
  const socket = new Router({ context, linger: 0 });
  await socket.bind(ADDRESS);
  void answer(socket, admits);
  return () => socket.close();
}

async function answer(socket: Router, admits: Admits): Promise<void> {
  for await (const frames of socket) {
    const [peer = "", delimiter = "", version = "", request = "", , , , mechanism, ...credentials] = frames;
    const isAdmitted = admits(String(mechanism), credentials);
    const [status, text] = isAdmitted ? ["200", "OK"] : ["400", "unknown key"];
    await socket.send([peer, delimiter, version, request, status ?? "", text ?? "", "", ""]);
  }
}

function parseZ85(text: string): Buffer {
  const bytes = Buffer.alloc((text.length / 5) * 4);
  for (let at = 0; at < text.length; at += 5) {
    let value = 0;
    for (const character of text.slice(at, at + 5)) value = value * 85 + Z85.indexOf(character);
    bytes.writeUInt32BE(value, (at / 5) * 4);
  }
  return bytes;
}
