import { type Context, Router } from "zeromq";

/** The address at which ZeroMQ asks about each connection, in the context of its sockets (RFC 27, ZAP). */
const ADDRESS = "inproc://zeromq.zap.01";
const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/** CURVE alone admits every client that knows the server's public key; this admits only one client key. */
export async function admitOnly(publicKey: string, context: Context): Promise<() => void> {
  const admitted = parseZ85(publicKey);
  const socket = new Router({ context, linger: 0 });
  await socket.bind(ADDRESS);
  void answer(socket, admitted);
  return () => socket.close();
}

async function answer(socket: Router, admitted: Buffer): Promise<void> {
  for await (const frames of socket) {
    const [peer = "", delimiter = "", version = "", request = "", , , , mechanism, key] = frames;
    const isAdmitted = String(mechanism) === "CURVE" && key?.equals(admitted) === true;
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
