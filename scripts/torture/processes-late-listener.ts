// A separate process: like a dev server, it takes a second before it listens, and says so.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const STARTING_MS = 1_000;

const [port] = process.argv.slice(2);
await delay(STARTING_MS);
const server = createServer((_, response) => response.end("hello"));
server.listen(Number(port), "127.0.0.1", () => console.log(`listening since ${Date.now()}`));
