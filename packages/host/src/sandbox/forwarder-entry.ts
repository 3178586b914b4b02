import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import process from "node:process";

/**
 * Runs inside the sandbox beside one command and forwards its proxy port to the proxy's socket, the only way out.
 * Exits with the command.
 */
const [socket = "", port = "", descriptors = "", program = "", ...args] = process.argv.slice(2);

const server = createServer((client) => {
  const proxy = connect(socket);
  client.on("error", () => proxy.destroy()).on("close", () => proxy.destroy());
  proxy.on("error", () => client.destroy()).on("close", () => client.destroy());
  client.pipe(proxy).pipe(client);
});
// Commands of one container share a network, each beside a forwarder to the same socket.
server.listen({ port: Number(port), host: "127.0.0.1", reusePort: true });
await once(server, "listening");

const FIRST_DESCRIPTOR = 3;
const further = Array.from({ length: Number(descriptors) }, (_, index) => FIRST_DESCRIPTOR + index);
const child = spawn(program, args, { stdio: ["inherit", "inherit", "inherit", ...further] });
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
// A terminal signals both processes.
process.on("SIGINT", () => {});
child.on("error", (cause) => {
  console.error(`${program}: ${cause.message}`);
  process.exit(127);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
