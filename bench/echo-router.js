// A bare ROUTER that answers every message with the number of bytes in its first argument: the floor of a call.
import { Router } from "zeromq";

const [, , address, bytes] = process.argv;
const socket = new Router({ linger: 0 });
await socket.bind(address);
process.stdout.write("ready\n");
const body = Buffer.alloc(Number(bytes), 1);
for await (const frames of socket) await socket.send([...frames.slice(0, -1), body]);
